// The frame of the payment modal: what happens, in which order, and what the page is told of it. What is shown is in view.js
// and form.js, requests are in api.js.
import { Api, Lost, Refused, isTrouble } from "./api.js";
import { CardForm } from "./form.js";
import { HostedFields } from "./hosted.js";
import { Memory, newKey } from "./memory.js";
import * as messages from "./messages.js";
import { poll } from "./poll.js";
import { Texts, guess, major } from "./texts.js";
import { View } from "./view.js";

const base = new URL("./", location.href);
const query = new URLSearchParams(location.search);
const page = query.get("origin");
const attempts = 3;

// The states, and where each can lead. In those that are processing a payment may be on its way.
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

// Controller leads through one payment.
class Controller {
  #state = "loading";
  #told = new Set(); // what was fired, each with the object it was about
  #view;
  #form;
  #api = new Api(base);
  #texts;
  #data; // what the page opened the modal with
  #options;
  #visit; // the showing of the page that the modal is in: when it began, and by what kind of navigation
  #memory;
  #session;
  #booking;
  #transaction; // the attempt that is under way, or the last
  #key; // under which the attempt is made, as long as its outcome is not known
  #used = 0; // attempts that the bank refused
  #opened = false;
  #prepared = false; // whether the form takes cards

  constructor() {
    this.#view = new View({ close: () => this.close(), leave: () => this.#leave(), retry: () => this.#check() });
    this.#form = new CardForm(document.getElementById("card"), (text, urgent) => this.#view.announce(text, urgent), (entered) => this.#pay(entered));
    addEventListener("message", (event) => this.#heard(event));
    this.#post("ready", {});
  }

  // ---- the page

  #post(kind, content) {
    parent.postMessage({ holdfast: 1, kind, ...content }, page);
  }

  #heard(event) {
    if (event.data?.holdfast !== 1) return;
    const { kind, data, options, visit } = event.data;
    if (event.source === parent && event.origin === page) {
      if (kind === "open") this.#open(data, options, visit).catch((error) => this.#broken(error));
      if (kind === "close") this.#view.escape();
    } else if (event.origin === location.origin && kind === "returned" && event.source === this.#bank?.contentWindow) {
      this.#returned();
    }
  }

  // #fire tells the page of an event, once for each object that it can be about.
  #fire(name, argument, about = "") {
    if (this.#told.has(`${name} ${about}`)) return;
    this.#told.add(`${name} ${about}`);
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

  // close closes the modal; while a payment is on its way the shopper is asked first.
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
    const { channel, tokenizer } = this.#session;
    if (tokenizer?.kind === "hosted" && !query.has("tokenizer")) {
      // The document's policy does not let the tokenizer in; the one that comes does.
      query.set("tokenizer", tokenizer.environment);
      location.replace(`?${query}`);
      return;
    }
    if (data.language) this.#sum(); // now that it is known who is paid
    else await this.#speak(guess(channel.language));
    if (channel.test) this.#view.test();
    if (await this.#book()) await this.#begin();
  }

  // #anew reports whether what was paid is over, so that the same again, vouched for anew, is another order: the shopper has
  // closed the modal, or this very page was told of the payment, or it comes neither from a reload nor from the browser's
  // history.
  #anew() {
    const { paid, closed, visit, auth } = this.#memory.read();
    return paid && auth !== this.#auth() && (closed || visit === this.#visit?.began || this.#visit?.by === "navigate");
  }

  // #named is the booking that the page names, 0 for none, NaN for what cannot be one.
  #named() {
    const text = String(this.#data.booking_id ?? "").trim();
    return /^\d{0,15}$/.test(text) ? Number(text) : NaN;
  }

  // #known is the booking to pay: the one that the page names, or that an earlier visit of this tab tried to pay.
  #known = () => this.#named() || this.#memory.read().booking || 0;

  async #speak(name) {
    this.#texts = await Texts.load(name);
    this.#view.speak(this.#texts);
    this.#form.speak(this.#texts);
    this.#post("named", { title: this.#texts.say("title"), lang: this.#texts.lang });
    this.#sum();
  }

  #merchant = () => this.#session?.channel.receipt_label || this.#session?.site || "";
  #amount = () => this.#texts.money(this.#data.total, this.#data.currencies);

  // #sum shows what is paid for; what the service says of the booking counts more than what the page said.
  #sum() {
    const { currencies, total, description, reference, firstname, surname, date_start: from, date: to } = { ...this.#data, ...this.#described() };
    const facts = [
      ["traveller", [firstname, surname].filter(Boolean).join(" ")],
      ["travel_dates", to && this.#texts.days(from, to)],
      ["reference_label", reference],
    ];
    // Of a booking that is paid nothing is open, and no rate can be told.
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

  // #book finds or makes the booking, and says whether there is one now.
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
        this.#memory.forget(); // of a booking that is not there any more
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

  // #begin goes on where an earlier visit was interrupted, or shows the form.
  async #begin() {
    const { key, paid, auth, attempts: used = 0 } = this.#memory.read();
    this.#key = key;
    // Another auth string is another three attempts.
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
      this.#settled();
      return;
    }
    await this.#ready();
    this.#ask();
  }

  // #underWay is the attempt at the booking whose outcome is open, 0 without one: a page that names the booking by now, or
  // another window, may have begun it.
  async #underWay() {
    const last = this.#booking.transaction_ids.at(-1);
    if (!last || !this.#told.has("booking_exists ")) return 0;
    const transaction = await this.#api.transaction(last).catch(() => null); // one that was not made here is nobody's business
    return ["pending", "incomplete"].includes(transaction?.status) ? last : 0;
  }

  #auth = () => String(this.#data.booking_auth).slice(0, 16);

  // #ready makes the form take cards as the channel takes them.
  async #ready() {
    const { tokenizer } = this.#session;
    if (this.#prepared || !["sandbox", "hosted"].includes(tokenizer?.kind)) return;
    this.#prepared = true;
    const { payee_name: name, payee_surname: surname } = this.#data;
    this.#form.name([name, surname].filter(Boolean).join(" "));
    if (tokenizer.kind === "sandbox") {
      const cards = await this.#api.cards();
      this.#form.test(cards.cards ?? cards);
    } else {
      const style = getComputedStyle(document.getElementById("number"));
      const look = `font: ${style.fontWeight} ${style.fontSize} ${style.fontFamily}; color: ${style.color}; background: transparent; border: 0; outline: 0; width: 100%; height: 46px; padding: 0 12px; box-sizing: border-box`;
      this.#form.host(await HostedFields.open(tokenizer, this.#texts, look));
    }
  }

  // #ask shows the form, with what went wrong before if something did.
  #ask(notice) {
    if (!this.#prepared) {
      this.#fail(new Lost("Cards are not taken on this channel in this deployment."), { name: "NotSupportedError", text: "unsupported" });
      return;
    }
    this.#go("form");
    const pay = this.#options.transactionType === "authorize" ? "hold" : "pay";
    this.#view.form(() => this.#texts.say(pay, { amount: this.#amount() }), notice);
    if (!notice) this.#form.focus();
  }

  // ---- paying

  async #pay(entered) {
    if (this.#state !== "form") return;
    this.#go("paying");
    this.#view.waiting("paying", "paying", "keep_open");
    this.#transaction = undefined;
    // The same key until its outcome is known: what was carried out under it is not carried out again.
    this.#key ??= newKey();
    try {
      const token = await entered.tokenize();
      this.#memory.note({ booking: this.#booking.id, key: this.#key, before: this.#before(), auth: this.#auth() });
      const body = messages.transaction(this.#data, this.#options, this.#booking, { ...entered, token }, `${base}return?path=${this.#options.path}`);
      this.#settle(await this.#api.pay(body, this.#key));
    } catch (error) {
      await this.#failed(error);
    }
  }

  // #before is the last transaction that is not of the attempt under way.
  #before = () => this.#memory.read().before ?? Math.max(0, ...this.#booking.transaction_ids);

  // #over ends an attempt whose outcome is known.
  #over(change = {}) {
    this.#key = undefined;
    this.#memory.note({ key: undefined, before: undefined, ...change });
  }

  // #failed is for a payment that was not answered with a transaction.
  async #failed(error) {
    if (error instanceof Lost && error.timedOut) {
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
        this.#settled();
      } else if (error.name === "jwt_auth_invalid_request") this.#refuse(error);
      else this.#again(error);
    }
  }

  // #paidMeanwhile asks whether the booking was paid while this form was open.
  async #paidMeanwhile() {
    const booking = await this.#api.booking(this.#booking.id).catch(() => null);
    return booking?.status === "paid";
  }

  // #settle acts on the answer to a payment, or on what it has become since.
  #settle(transaction) {
    this.#transaction = transaction;
    const { id, status, "3ds_response": challenge } = transaction;
    switch (status) {
      case "complete":
        this.#key = undefined;
        this.#memory.note({ key: undefined, paid: Date.now(), visit: this.#visit?.began }); // shown again, should the page be loaded again
        this.#go("paid");
        this.#fire("transaction_logged", transaction, id);
        this.#view.result("paid", this.#paid());
        break;
      case "pending":
        if (challenge?.type === "redirect") this.#challenge(challenge.value);
        else this.#check();
        break;
      case "incomplete":
        this.#unknown("The processor did not answer in time.");
        break;
      case "failed":
        this.#declined();
        break;
      default: // expired: the shopper did not finish a challenge
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

  // #settled is for a booking that was paid elsewhere, as in another tab: there is nothing to pay here.
  #settled() {
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
    const why = () => this.#texts.say(messages.decline(this.#transaction.decline_reason));
    if (count > 0) {
      this.#form.again();
      this.#after({ title: why, text: () => this.#texts.say("attempts", { count }) });
      return;
    }
    this.#go("declined");
    this.#view.result("declined", {
      kind: "bad", done: "back", booking: String(this.#booking.id), title: () => this.#texts.say("declined"),
      text: () => `${why()} ${this.#texts.say("no_attempts")}`,
    });
  }

  // #after shows the form again, once it can take a card: after a reload it cannot yet.
  async #after(notice) {
    try {
      await this.#ready();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#ask(notice);
  }

  // #again is for an attempt of which it is known that no money moved.
  #again(error, title = "error") {
    this.#over();
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#form.again();
    this.#after({ title: () => this.#texts.say(title), text: () => this.#texts.say("try_again") });
  }

  #unknown(message) {
    this.#go("unknown");
    const argument = { booking_id: this.#booking.id, message, name: "TimeoutError" };
    this.#fire("transaction_timeout", argument, this.#key);
    this.#puzzle();
  }

  // #puzzle says that the payment may have succeeded, and offers to look again.
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
    // Banks' pages do not always lead back. What the processor says twice is so even then.
    let seen = "";
    this.#watch = setInterval(async () => {
      const now = await this.#api.transaction(this.#transaction.id).catch(() => null);
      if (this.#state !== "challenge" || !now) return;
      if (now.status !== "pending" && seen === now.status) this.#returned();
      seen = now.status;
    }, 15000);
  }

  // #returned is for the shopper who is back from the bank.
  #returned() {
    if (this.#state !== "challenge") return;
    clearInterval(this.#watch);
    this.#bank = null;
    this.#fire("transaction_result_available", this.#transaction, this.#transaction.id);
    this.#check();
  }

  // #check asks what became of the payment until it is known.
  async #check() {
    this.#go("checking");
    this.#view.waiting("checking", "checking", "wait");
    if (this.#transaction) await this.#follow(this.#transaction.id);
    else await this.#find();
  }

  // #follow asks for a transaction until its outcome is known, or a challenge has to be passed that was not yet.
  async #follow(id) {
    const told = (name, about) => this.#told.has(`${name} ${about}`);
    const known = ({ status, "3ds_response": challenge }) => {
      if (status === "incomplete") return !told("transaction_timeout", this.#key);
      return status !== "pending" || (challenge?.type === "redirect" && !told("transaction_result_available", id));
    };
    // Who asks again after a time-out is not kept waiting as long.
    const limit = told("transaction_timeout", this.#key) ? 6000 : 120000;
    const slow = () => this.#view.waiting("checking", "checking", "slow");
    const found = await poll(() => this.#api.transaction(id), known, { limit, slow });
    if (found) this.#settle(found);
    else this.#unknown("The outcome was not known in time.");
  }

  // #find looks for the transaction of an attempt whose answer did not come: the booking knows it. Where there is none for
  // some time there will be none; where nobody answers nothing is known.
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

  // #retry is #again for an attempt that may still arrive: the key stays, so that only one of the two is carried out.
  #retry(error) {
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#after({ title: () => this.#texts.say("error"), text: () => this.#texts.say("try_again") });
  }

  #lost(error = new Lost("The service cannot be reached.")) {
    this.#go("unknown");
    this.#fire("transaction_error", { name: error.name, message: error.message }, newKey());
    this.#puzzle();
  }

  // ---- what ends it

  // #refuse is for an auth string, or a token, that is not accepted.
  #refuse(error) {
    if (!(error instanceof Refused) || isTrouble(error)) {
      this.#fail(error);
      return;
    }
    this.#go("refused");
    this.#fire("token_error", error.body);
    this.#view.result("refused", { kind: "bad", done: "back", title: () => this.#texts.say("refused"), text: () => this.#texts.say("refused_text") });
  }

  // #reject is for a booking that the service does not take, or does not know.
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
      kind: "bad", done: "back", problems: messages.problems(error.body), title: () => this.#texts.say("invalid"),
      text: () => this.#texts.say("invalid_text"),
    });
  }

  // #fail is for everything before a payment was made that cannot be mended here.
  #fail(error, { name = error.name, text = "failed_text" } = {}) {
    this.#go("failed");
    this.#fire("transaction_error", { name, message: error.message });
    this.#view.result("failed", { kind: "bad", done: "back", title: () => this.#texts.say("error"), text: () => this.#texts.say(text) });
  }

  // #broken is for our own mistakes: even then something is said.
  #broken(error) {
    reportError(error);
    if (states[this.#state].includes("failed")) this.#fail(error);
  }
}

new Controller();
