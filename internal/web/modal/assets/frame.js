// The controller of the payment modal's frame: its states, their order and the events for the page. view.js and form.js are
// the user interface, api.js sends the requests.
import { Api, Lost, Refused, isTrouble } from "./api.js";
import { CardForm } from "./form.js";
import { Expired, HostedFields } from "./hosted.js";
import { Life } from "./life.js";
import { Memory, newKey } from "./memory.js";
import * as messages from "./messages.js";
import { poll } from "./poll.js";
import { Texts, guess, major } from "./texts.js";
import { View } from "./view.js";

const base = new URL("./", location.href);
const query = new URLSearchParams(location.search);
const page = query.get("origin");
const attempts = 3;

// The states and their transitions. In states marked as processing, a payment may be in progress.
const states = {
  loading: ["form", "checking", "challenge", "paid", "declined", "unknown", "failed", "refused", "invalid"],
  form: ["paying", "refused", "failed"],
  paying: ["form", "checking", "challenge", "paid", "declined", "unknown", "failed", "refused"],
  challenge: ["checking"],
  checking: ["form", "challenge", "paid", "declined", "unknown", "failed"],
  paid: [], declined: [], failed: [], refused: [], invalid: [],
  unknown: ["checking"],
};
const processing = ["paying", "challenge", "checking"];

// Controller handles one payment.
class Controller {
  #state = "loading";
  #fired = new Set(); // fired events, each with its object
  #view;
  #form;
  #api = new Api(base);
  #texts;
  #data; // data from the page
  #options;
  #visit; // when and how the page was opened
  #memory;
  #session;
  #booking;
  #transaction; // the current attempt, or the last
  #key; // idempotency key of the attempt until its outcome is known
  #used = 0; // declined attempts
  #life; // lifetime of the session
  #hosted; // the tokenizer's hosted fields, if used
  #opened = false;
  #prepared = false; // whether the form is ready for cards

  constructor() {
    this.#view = new View({ close: () => this.close(), leave: () => this.#leave(), retry: () => this.#check() });
    this.#form = new CardForm(document.getElementById("card"), (text, urgent) => this.#view.announce(text, urgent), (entered) => this.#pay(entered));
    this.#life = new Life({ ending: (left) => this.#ending(left), open: (auth) => this.#reopen(auth), refused: (error, auth) => this.#fire("token_error", error.body, auth) });
    addEventListener("message", (event) => this.#heard(event));
    this.#post("ready", {});
  }

  // ---- the page

  #post(kind, content) {
    parent.postMessage({ holdfast: 1, kind, ...content }, page);
  }

  #heard(event) {
    if (event.data?.holdfast !== 1) return;
    const { kind, data, options, visit, auth } = event.data;
    if (event.source === parent && event.origin === page) {
      if (kind === "open") this.#open(data, options, visit).catch((error) => this.#broken(error));
      if (kind === "close") this.#view.escape();
      if (kind === "renew") this.#life.renew(auth);
    } else if (event.origin === location.origin && kind === "returned" && event.source === this.#bank?.contentWindow) {
      this.#returned();
    }
  }

  // #fire sends an event to the page, once per object.
  #fire(name, argument, about = "") {
    if (this.#fired.has(`${name} ${about}`)) return;
    this.#fired.add(`${name} ${about}`);
    this.#post("callback", { name, argument });
  }

  #go(state) {
    if (!states[this.#state].includes(state)) throw new Error(`${this.#state} does not lead to ${state}`);
    const was = processing.includes(this.#state);
    this.#state = state;
    const on = processing.includes(state);
    if (on !== was) this.#post("processing", { on });
    if (!on) this.#view.unask();
  }

  // close closes the modal. During a payment it asks for confirmation first.
  close() {
    if (processing.includes(this.#state)) this.#view.ask();
    else this.#leave();
  }

  #leave() {
    if (this.#state === "paid") this.#memory.note({ closed: true });
    this.#post("closed", { argument: { message: messages.closed(this.#state, this.#booking?.id, this.#transaction?.status) } });
  }

  // ---- opening

  async #open(data, options, visit) {
    if (this.#opened) return;
    this.#opened = true;
    this.#data = data;
    this.#options = options;
    this.#visit = visit;
    await this.#speak(guess(data.language));
    this.#memory = await Memory.of({ ...options, origin: page }, data);
    if (this.#anew()) this.#memory.forget();
    try {
      this.#session = await this.#api.session(messages.session(data, options, page, this.#known()));
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#api.token = this.#session.token;
    this.#life.begins(this.#session.expires_in);
    const { channel, tokenizer } = this.#session;
    if (tokenizer?.kind === "hosted" && !query.has("tokenizer")) {
      // This document's CSP blocks the tokenizer's script. The next document allows it.
      query.set("tokenizer", tokenizer.environment);
      this.#post("reloads", {});
      location.replace(`?${query}`);
      return;
    }
    if (data.language) this.#sum(); // now the merchant is known
    else await this.#speak(guess(channel.language));
    if (channel.test) this.#view.test();
    if (await this.#book()) await this.#begin();
  }

  // ---- renewing the session

  // #ending notifies the page that the session expires in this many seconds. After the payment it does not matter.
  #ending(left) {
    if (["paid", "declined", "failed", "refused", "invalid"].includes(this.#state)) return;
    const message = "The session of the payment modal ends soon. Pass a new auth string for the same payment to renew().";
    this.#fire("token_expiring", { message, expires_in: left }, newKey());
  }

  // #reopen opens a new session for the same payment with a new auth string, and returns its lifetime in seconds. The
  // shopper's input is kept. The new session is used only once it is bound to the booking.
  async #reopen(auth) {
    if (!this.#booking) return 0;
    const data = { ...this.#data, booking_auth: auth };
    const api = new Api(base);
    const { token, expires_in, tokenizer } = await api.session(messages.session(data, this.#options, page, this.#booking.id));
    api.token = token;
    await api.booking(this.#booking.id);
    this.#api.token = token;
    this.#data = data;
    if (this.#hosted?.expired) await this.#host(tokenizer);
    if (this.#state === "form") this.#view.form(this.#pays);
    return expires_in;
  }

  // #anew reports whether the same data with a new auth string is a new order. It is new if the shopper closed the modal
  // after paying, if this page was notified of the payment, or if the page was opened by a link. After a reload, or from the
  // browser's history, it is the old order.
  #anew() {
    const { paid, closed, visit, auth } = this.#memory.read();
    return paid && auth !== this.#auth() && (closed || visit === this.#visit?.began || this.#visit?.by === "navigate");
  }

  // #named is the booking ID from the page: 0 for none, NaN if invalid.
  #named() {
    const text = String(this.#data.booking_id ?? "").trim();
    return /^\d{0,15}$/.test(text) ? Number(text) : NaN;
  }

  // #known is the booking to pay: the page's, or the one that an earlier visit in this tab tried to pay.
  #known = () => this.#named() || this.#memory.read().booking || 0;

  async #speak(name) {
    this.#texts = await Texts.load(name);
    this.#view.speak(this.#texts);
    this.#form.speak(this.#texts);
    this.#sum();
    if (this.#state === "loading") this.#view.loading(this.#pays);
    this.#post("named", { title: this.#texts.say("title"), lang: this.#texts.lang });
  }

  // #merchant is the merchant's name. Without a session only the site's name is known.
  #merchant = () => this.#session?.channel.receipt_label || this.#session?.site || (this.#state === "loading" ? "" : document.documentElement.dataset.site);
  #amount = () => this.#texts.money(this.#data.total, this.#data.currencies);

  // #sum shows the order summary. The service's values take precedence over the page's.
  #sum() {
    const { currencies, total, description, reference, firstname, surname, date_start: from, date: to } = { ...this.#data, ...this.#described() };
    const facts = [
      ["traveller", [firstname, surname].filter(Boolean).join(" ")],
      ["travel_dates", to && this.#texts.days(from, to)],
      ["reference_label", reference],
    ];
    // A paid booking has no amount open, so no rate.
    const other = this.#booking?.total_unpaid > 0 && this.#booking.currencies !== currencies;
    if (other) {
      const { currencies: own, total_unpaid: rest } = this.#booking;
      facts.unshift(["price", this.#texts.money(rest, own)], ["rate", this.#texts.rate(own, currencies, major(total, currencies) / major(rest, own))]);
    }
    this.#view.sum({ merchant: this.#merchant(), amount: this.#amount(), purpose: description ?? "", facts });
  }

  #described() {
    if (!this.#booking) return {};
    const { content, firstname, surname, date, date_start, reference } = this.#booking;
    const said = { description: this.#data.description ?? content, firstname, surname, date, date_start, reference };
    return Object.fromEntries(Object.entries(said).filter(([, value]) => value));
  }

  // #book finds or creates the booking. It returns whether one exists now.
  async #book() {
    if (Number.isNaN(this.#named())) {
      this.#reject(messages.noBooking());
      return false;
    }
    const known = this.#known();
    try {
      this.#booking = known ? await this.#api.booking(known) : await this.#api.makeBooking(messages.booking(this.#data, this.#session.channel.language), newKey());
    } catch (error) {
      if (known && !this.#named() && error instanceof Refused) {
        this.#memory.forget(); // the booking no longer exists
        return this.#book();
      }
      this.#reject(error);
      return false;
    }
    this.#fire(known ? "booking_exists" : "booking_logged", this.#booking);
    const language = guess(this.#data.language, this.#booking.language);
    if (language !== this.#texts.name) await this.#speak(language);
    else this.#sum();
    return true;
  }

  // #begin resumes an interrupted visit, or shows the form.
  async #begin() {
    const { key, paid, auth, attempts: used = 0 } = this.#memory.read();
    this.#key = key;
    // A new auth string allows three new attempts.
    if (auth === this.#auth()) this.#used = used;
    if (key || paid || this.#used >= attempts) {
      this.#go("checking");
      this.#view.waiting("checking", "checking", "wait");
      if (key || paid) await this.#find();
      else await this.#follow(this.#booking.transaction_ids.at(-1));
      return;
    }
    const open = await this.#underWay();
    if (open) {
      this.#go("checking");
      this.#view.waiting("checking", "checking", "wait");
      await this.#follow(open);
      return;
    }
    if (this.#booking.status === "paid") {
      this.#paidElsewhere();
      return;
    }
    await this.#ready();
    this.#ask();
  }

  // #underWay is the ID of a payment attempt whose outcome is not known yet, or 0. It may have been made in another window.
  async #underWay() {
    const last = this.#booking.transaction_ids.at(-1);
    if (!last || !this.#fired.has("booking_exists ")) return 0;
    const transaction = await this.#api.transaction(last).catch(() => null); // transactions created outside the modal cannot be read
    return ["pending", "incomplete"].includes(transaction?.status) ? last : 0;
  }

  #auth = () => String(this.#data.booking_auth).slice(0, 16);

  // #ready prepares the form for the merchant's cards: test cards, or the tokenizer's hosted fields.
  async #ready() {
    const { tokenizer } = this.#session;
    if (this.#prepared || !["sandbox", "hosted"].includes(tokenizer?.kind)) return;
    this.#prepared = true;
    const { payee_name: name, payee_surname: surname } = this.#data;
    this.#form.name([name, surname].filter(Boolean).join(" "));
    if (tokenizer.kind === "sandbox") {
      const cards = await this.#api.cards();
      this.#form.test(cards.cards ?? cards);
    } else await this.#host(tokenizer);
  }

  async #host(tokenizer) {
    const style = getComputedStyle(document.getElementById("number"));
    const look = `font: ${style.fontWeight} ${style.fontSize} ${style.fontFamily}; color: ${style.color}; background: transparent; border: 0; outline: 0; width: 100%; height: 46px; padding: 0 12px; box-sizing: border-box`;
    this.#hosted = await HostedFields.open(tokenizer, this.#texts, look);
    this.#form.host(this.#hosted);
  }

  // #ask shows the form, with a notice if something failed before: {title, text, focus, marks}. focus is the field to focus,
  // marks are the fields to mark as invalid.
  #ask(notice) {
    if (!this.#prepared) {
      this.#fail(new Lost("This merchant cannot accept cards in this deployment."), { name: "NotSupportedError", text: "unsupported" });
      return;
    }
    this.#go("form");
    this.#view.form(this.#pays, notice);
    this.#form.mark(notice?.marks ?? []);
    this.#form.focus(notice?.focus);
  }

  // #pays is the label of the submit button.
  #pays = () => this.#texts.say(this.#options.transactionType === "authorize" ? "hold" : "pay", { amount: this.#amount() });

  // ---- paying

  async #pay(entered) {
    if (this.#state !== "form") return;
    this.#go("paying");
    this.#view.waiting("paying", "paying", "keep_open");
    this.#transaction = undefined;
    // The key stays the same until the outcome is known, so the payment is made only once.
    this.#key ??= newKey();
    try {
      const token = await entered.tokenize();
      this.#memory.note({ booking: this.#booking.id, key: this.#key, before: this.#before(), auth: this.#auth() });
      const body = messages.transaction(this.#data, this.#options, this.#booking, { ...entered, token }, `${base}return?path=${this.#options.path}`);
      this.#handle(await this.#api.pay(body, this.#key));
    } catch (error) {
      await this.#failed(error);
    }
  }

  // #before is the booking's last transaction before this attempt.
  #before = () => this.#memory.read().before ?? Math.max(0, ...this.#booking.transaction_ids);

  // #over ends an attempt whose outcome is known.
  #over(change = {}) {
    this.#key = undefined;
    this.#memory.note({ key: undefined, before: undefined, ...change });
  }

  // #failed handles a payment whose response was not a transaction.
  async #failed(error) {
    if (error instanceof Expired) {
      this.#over();
      this.#expired({ code: "jwt_auth_invalid_request", message: error.message, data: { status: 403 } });
    } else if (error instanceof Lost && error.timedOut) {
      this.#unknown(error.message);
    } else if (error instanceof Lost || error.status >= 500 || ["idempotency_mismatch", "idempotency_in_flight"].includes(error.name)) {
      this.#go("checking");
      this.#view.waiting("checking", "checking", "wait");
      await this.#find(error);
    } else if (error.name === "transaction_not_possible" && error.body.data.params?.transaction_id) {
      if (error.body.data.reason === "attempts_used") this.#used = attempts;
      this.#go("checking");
      await this.#follow(Number(error.body.data.params.transaction_id));
    } else {
      this.#over();
      if (await this.#paidMeanwhile()) {
        this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
        this.#paidElsewhere();
      } else if (error.name === "jwt_auth_invalid_request" && error.body.data.reason === "expired") this.#expired(error.body);
      else if (error.name === "jwt_auth_invalid_request") this.#refuse(error);
      else this.#again(error);
    }
  }

  // #paidMeanwhile checks whether the booking was paid while this form was open.
  async #paidMeanwhile() {
    const booking = await this.#api.booking(this.#booking.id).catch(() => null);
    return booking?.status === "paid";
  }

  // #handle handles a payment's transaction, as returned or as it is now.
  #handle(transaction) {
    this.#transaction = transaction;
    const { id, status, "3ds_response": challenge } = transaction;
    switch (status) {
      case "complete":
        this.#key = undefined;
        this.#memory.note({ key: undefined, paid: Date.now(), visit: this.#visit?.began }); // shown again after a reload
        this.#go("paid");
        this.#fire("transaction_logged", transaction, id);
        this.#view.result("paid", this.#paid());
        break;
      case "pending":
        if (challenge?.type === "redirect") this.#challenge(challenge.value);
        else this.#check();
        break;
      case "incomplete":
        this.#unknown("The processor did not respond in time.");
        break;
      case "failed":
        this.#declined();
        break;
      default: // expired: the shopper did not complete a challenge
        this.#again(new Lost(transaction.content || `The payment is ${status}.`), "decline_authentication");
    }
  }

  #paid() {
    const held = this.#options.transactionType === "authorize";
    return {
      kind: "good", done: "done", booking: String(this.#booking.id),
      title: () => this.#texts.say(held ? "held" : "paid"),
      text: () => this.#texts.say(held ? "held_text" : "paid_text", { amount: this.#amount(), merchant: this.#merchant() }),
    };
  }

  // #paidElsewhere handles a booking that is already paid, for example in another tab.
  #paidElsewhere() {
    this.#go("paid");
    this.#view.result("paid", {
      kind: "good", done: "done", booking: String(this.#booking.id), title: () => this.#texts.say("settled"), text: () => this.#texts.say("settled_text"),
    });
  }

  #declined() {
    this.#used++;
    this.#over({ attempts: this.#used, auth: this.#auth() });
    this.#fire("transaction_failed", this.#transaction, this.#transaction.id);
    const count = Math.max(0, attempts - this.#used);
    const reason = messages.decline(this.#transaction.decline_reason);
    const why = () => this.#texts.say(reason);
    if (count > 0) {
      this.#form.again();
      this.#after({ title: why, text: () => this.#texts.say("attempts", { count }), marks: messages.doubted(reason) });
      return;
    }
    this.#go("declined");
    this.#view.result("declined", {
      kind: "bad", done: "back", booking: String(this.#booking.id), title: () => this.#texts.say("declined"),
      text: () => `${why()} ${this.#texts.say("no_attempts")}`,
    });
  }

  // #after shows the form again. After a reload, it must be prepared first.
  async #after(notice) {
    try {
      await this.#ready();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#ask(notice);
  }

  // #again lets the shopper retry when it is certain that no money moved.
  #again(error, title = "error") {
    this.#over();
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#form.again();
    this.#after({ title: () => this.#texts.say(title), text: () => this.#texts.say("try_again"), focus: "code" });
  }

  // #expired keeps the entered card after the session has expired. The page may still pass a new auth string.
  #expired(error) {
    this.#fire("token_error", error, newKey());
    this.#after({ title: () => this.#texts.say("expired"), text: () => this.#texts.say("expired_text"), focus: "pay" });
  }

  #unknown(message) {
    this.#go("unknown");
    const argument = { booking_id: this.#booking.id, message, name: "TimeoutError" };
    this.#fire("transaction_timeout", argument, this.#key);
    this.#puzzle();
  }

  // #puzzle shows that the payment may have succeeded, and offers to check again.
  #puzzle() {
    this.#view.result("unknown", {
      kind: "open", done: "back", retry: "check_again", booking: String(this.#booking.id), title: () => this.#texts.say("unknown"),
      text: () => this.#texts.say("unknown_text", { merchant: this.#merchant() }),
    });
  }

  // ---- the bank

  #bank = null;
  #watch = 0;

  #challenge(address) {
    this.#go("challenge");
    this.#bank = this.#view.challenge(address);
    // Not every bank's page sends the shopper back. So the service is polled meanwhile, and an outcome counts once it has
    // been seen twice.
    let seen = "";
    this.#watch = setInterval(async () => {
      const now = await this.#api.transaction(this.#transaction.id).catch(() => null);
      if (this.#state !== "challenge" || !now) return;
      if (now.status !== "pending" && seen === now.status) this.#returned();
      seen = now.status;
    }, 15000);
  }

  // #returned continues when the shopper is back from the bank.
  #returned() {
    if (this.#state !== "challenge") return;
    clearInterval(this.#watch);
    this.#bank = null;
    this.#fire("transaction_result_available", this.#transaction, this.#transaction.id);
    this.#check();
  }

  // #check polls the payment until its outcome is known.
  async #check() {
    this.#go("checking");
    this.#view.waiting("checking", "checking", "wait");
    if (this.#transaction) await this.#follow(this.#transaction.id);
    else await this.#find();
  }

  // #follow polls a transaction until its outcome is known, or until there is a new challenge.
  async #follow(id) {
    const fired = (name, about) => this.#fired.has(`${name} ${about}`);
    const known = ({ status, "3ds_response": challenge }) => {
      if (status === "incomplete") return !fired("transaction_timeout", this.#key);
      return status !== "pending" || (challenge?.type === "redirect" && !fired("transaction_result_available", id));
    };
    // After a timeout, checking again takes less long.
    const limit = fired("transaction_timeout", this.#key) ? 6000 : 120000;
    const slow = () => this.#view.waiting("checking", "checking", "slow");
    const found = await poll(() => this.#api.transaction(id), known, { limit, slow });
    if (found) this.#handle(found);
    else this.#unknown("The outcome of the payment was not known in time.");
  }

  // #find looks in the booking for the transaction of an attempt whose response was lost. If none appears for some time,
  // none will. If the service does not respond, the outcome stays unknown.
  async #find(error) {
    const before = this.#before();
    let asked = 0;
    const booking = await poll(() => this.#api.booking(this.#booking.id), ({ transaction_ids: ids }) => ids.at(-1) > before || ++asked > 3, {
      limit: 30000, slow: () => this.#view.waiting("checking", "checking", "slow"),
    });
    if (!booking) {
      this.#lost(error);
      return;
    }
    this.#booking = booking;
    const id = booking.transaction_ids.at(-1);
    if (id > before) await this.#follow(id);
    else if (error) this.#retry(error);
    else await this.#after();
  }

  // #retry lets the shopper retry while the first attempt may still arrive. The key stays the same, so only one of the two
  // is executed.
  #retry(error) {
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#after({ title: () => this.#texts.say("error"), text: () => this.#texts.say("try_again"), focus: "pay" });
  }

  #lost(error = new Lost("The service is unreachable.")) {
    this.#go("unknown");
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#puzzle();
  }

  // ---- errors

  // #refuse handles an auth string or token that the service rejects.
  #refuse(error) {
    if (!(error instanceof Refused) || isTrouble(error)) {
      this.#fail(error);
      return;
    }
    this.#go("refused");
    this.#sum();
    this.#fire("token_error", error.body);
    this.#view.result("refused", { kind: "bad", done: "back", title: () => this.#texts.say("refused"), text: () => this.#texts.say("refused_text") });
  }

  // #reject handles a booking that the service rejects or does not find.
  #reject(error) {
    if (error.name === "jwt_auth_invalid_request") {
      this.#refuse(error);
      return;
    }
    if (!(error instanceof Refused) || isTrouble(error)) {
      this.#fail(error);
      return;
    }
    this.#go("invalid");
    this.#fire("booking_error", error.body);
    this.#view.result("invalid", {
      kind: "bad", done: "back", title: () => this.#texts.say("invalid"), text: () => this.#texts.say("invalid_text"),
      problems: () => messages.problems(error.body).map(([field, message]) => [this.#label(field), message]),
    });
  }

  // #label is the shopper's label of a booking field, or "" if it has none.
  #label(field) {
    const text = { reference: "reference_label", booking_id: "booking_number" }[field] ?? `field_${field}`;
    return this.#texts.knows(text) ? this.#texts.say(text) : "";
  }

  // #fail handles other errors before a payment, which cannot be fixed here.
  #fail(error, { name = error.name, text = "failed_text" } = {}) {
    this.#go("failed");
    this.#sum();
    this.#fire("transaction_error", { name, message: error.message });
    this.#view.result("failed", { kind: "bad", done: "back", title: () => this.#texts.say("error"), text: () => this.#texts.say(text) });
  }

  // #broken handles our own bugs, so that the shopper still gets a message.
  #broken(error) {
    reportError(error);
    if (states[this.#state].includes("failed")) this.#fail(error);
  }
}

new Controller();
