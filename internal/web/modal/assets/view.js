// The frame's user interface. It knows nothing about payments: the controller says what to show, and the view reports
// clicks.

const $ = (id) => document.getElementById(id);

// Focusable elements.
const reachable = "button, input, summary, iframe, a[href]";

// View is the frame's document. on has the click handlers: close, leave and retry.
export class View {
  #on; // click handlers
  #texts;
  #state = "loading"; // the state of the controller
  #shown = "form"; // the name of the shown view
  #content = () => {}; // renders the current view's text, again after a language change
  #back = null; // focus before a confirmation

  constructor(on) {
    this.#on = on;
    $("close").addEventListener("click", on.close);
    $("done").addEventListener("click", on.close);
    $("retry").addEventListener("click", on.retry);
    $("leave").addEventListener("click", on.leave);
    $("stay").addEventListener("click", () => this.unask());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      this.escape();
    });
    // The sticky header covers what scrolls under it. Keep the focused element visible.
    const [panel, head] = [document.querySelector(".panel"), document.querySelector(".sum")];
    new ResizeObserver(() => (panel.style.scrollPaddingTop = `${head.offsetHeight + 36}px`)).observe(head);
    // The Tab key must not leave the dialog, even from inside other frames, whose key events we do not get.
    $("before").addEventListener("focus", (event) => this.#wrap(event.relatedTarget ? -1 : 0));
    $("after").addEventListener("focus", () => this.#wrap(0));
  }

  escape() {
    if ($("ask").hidden) this.#on.close();
    else this.unask();
  }

  #wrap(at) {
    const within = $("ask").hidden ? document.querySelector("main") : $("ask");
    const all = [...within.querySelectorAll(reachable)].filter((element) => element.checkVisibility() && !element.disabled && !element.closest("[inert]"));
    all.at(at)?.focus();
  }

  // speak switches all texts to another language.
  speak(texts) {
    this.#texts = texts;
    document.documentElement.lang = texts.lang;
    document.title = texts.say("title");
    for (const element of document.querySelectorAll("[data-text]")) element.textContent = texts.say(element.dataset.text);
    for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", texts.say(element.dataset.label));
    for (const element of document.querySelectorAll("[data-hint]")) element.placeholder = texts.say(element.dataset.hint);
    this.#content();
  }

  // sum shows amount, merchant and booking.
  sum({ merchant, amount, purpose, facts }) {
    $("merchant").textContent = merchant;
    $("amount").textContent = amount;
    $("amount").classList.toggle("long", amount.length > 11);
    $("purpose").textContent = purpose;
    $("facts").replaceChildren(...facts.filter(([, value]) => value).map(([key, value]) => pair(this.#texts.say(key), value)));
  }

  test() {
    $("test").hidden = $("note").hidden = false;
  }

  #show(state, name, content) {
    document.documentElement.dataset.state = this.#state = state;
    this.#shown = name;
    for (const section of document.querySelectorAll("[data-view]")) section.hidden = section.dataset.view !== name;
    if (name !== "challenge") $("bank").replaceChildren();
    this.#content = content;
    content();
  }

  // loading shows the card form before it is usable.
  loading(pay) {
    this.#show("loading", "form", () => {
      $("pay").textContent = pay();
      $("private").textContent = this.#texts.say("private");
    });
  }

  // form shows the card form. notice is the previous error: {title, text}.
  form(pay, notice) {
    $("card").inert = false;
    this.#busy(false);
    this.#show("form", "form", () => {
      $("pay").textContent = pay();
      $("private").textContent = this.#texts.say("private");
      $("notice").hidden = !notice;
      $("notice-title").textContent = notice ? notice.title() : "";
      $("notice-text").textContent = notice ? notice.text() : "";
    });
    if (!notice) return;
    for (const scrolled of document.querySelectorAll(".panel, .stage")) scrolled.scrollTop = 0;
    this.announce(`${notice.title()} ${notice.text()}`, true);
  }

  // #busy locks a submitted form. The button keeps the focus.
  #busy(on) {
    for (const name of ["aria-disabled", "aria-busy"]) $("pay").setAttribute(name, on);
    for (const part of $("card").children) part.inert = on && part !== $("pay");
  }

  // waiting shows progress. If the form was just submitted, it stays, and its button shows the progress.
  waiting(state, title, text) {
    const changed = this.#state !== state;
    const sent = this.#shown === "form" && this.#state !== "loading";
    if (sent) {
      this.#busy(true);
      this.#show(state, "form", () => {
        $("pay").textContent = this.#texts.say("processing");
        $("private").textContent = this.#texts.say(text);
      });
    } else {
      this.#show(state, "waiting", () => {
        $("waiting-title").textContent = this.#texts.say(title);
        $("waiting-text").textContent = this.#texts.say(text);
      });
    }
    if (changed) (sent ? $("pay") : $("waiting-title")).focus();
    this.announce(`${this.#texts.say(title)} ${this.#texts.say(text)}`);
  }

  // challenge shows the bank's page and returns its window.
  challenge(address) {
    this.#show("challenge", "challenge", () => {
      const [frame] = $("bank").children;
      if (frame) frame.title = this.#texts.say("challenge_frame");
    });
    const frame = document.createElement("iframe");
    frame.title = this.#texts.say("challenge_frame");
    // The bank's page may do what it needs, except navigate away from the frame.
    frame.sandbox = "allow-forms allow-popups allow-same-origin allow-scripts";
    frame.allow = "publickey-credentials-get *";
    frame.src = address;
    $("bank").replaceChildren(frame);
    this.announce(`${this.#texts.say("challenge")} ${this.#texts.say("challenge_text")}`);
    frame.focus();
    return frame;
  }

  // result shows the outcome. kind is good, bad or open. problems are pairs of a field label and a message of the service,
  // which is in English. done and retry are button labels; retry is optional.
  result(state, { kind, title, text, problems = () => [], booking, done, retry }) {
    this.#show(state, "result", () => {
      $("sign").dataset.kind = kind;
      $("result-title").textContent = title();
      $("result-text").textContent = text();
      $("problems").replaceChildren(...problems().map(([name, message]) => pair(name, message, "en")));
      $("problems").hidden = problems().length === 0;
      $("reference").hidden = !booking;
      $("booking").textContent = booking ?? "";
      $("done").textContent = this.#texts.say(done);
      $("done").className = retry ? "other" : "main";
      $("retry").hidden = !retry;
      $("retry").textContent = retry ? this.#texts.say(retry) : "";
    });
    $("result-title").focus();
    const lines = [title(), text(), ...problems().flat()];
    if (booking) lines.push(this.#texts.say("booking_number"), booking);
    this.announce(lines.join(" "), kind !== "good");
  }

  // ask asks the shopper to confirm closing the modal.
  ask() {
    this.#back = document.activeElement;
    $("ask").hidden = false;
    for (const element of document.querySelectorAll(".sum, .stage, .side")) element.inert = true;
    $("stay").focus();
  }

  unask() {
    if ($("ask").hidden) return;
    $("ask").hidden = true;
    for (const element of document.querySelectorAll(".sum, .stage, .side")) element.inert = false;
    this.#back?.focus();
  }

  // announce has a screen reader announce a text.
  announce(text, urgent = false) {
    $(urgent ? "alert" : "status").textContent = text;
  }
}

function pair(key, value, lang = "") {
  const row = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = key;
  dd.textContent = value;
  if (lang) dd.lang = lang;
  row.append(dt, dd);
  return row;
}
