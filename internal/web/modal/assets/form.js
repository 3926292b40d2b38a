// The card form: behaviour and values of its fields. A field is validated on blur, and all fields on submit. While the
// shopper types, an error can disappear, but none appears.
import { brand, row } from "./brands.js";
import {
  codeProblem, digits, expiryProblem, groupCode, groupExpiry, groupNumber, nameProblem, numberProblem, readExpiry, retype, schemeOf,
} from "./card.js";

const names = ["number", "expiry", "code", "name"];

// CardForm is the card form's behaviour.
export class CardForm {
  #form;
  #texts;
  #announce;
  #hosted = null; // the tokenizer's hosted fields for number and code
  #cards = null; // in test mode: the test cards by number
  #shown = {}; // the error shown at each field
  #sent = false; // whether the form was submitted once: from then on, an empty field is an error

  // announce has a screen reader announce a text, immediately if urgent. submit is called when all fields are valid, with
  // {month, year, name, tokenize}. tokenize returns the card's token.
  constructor(form, announce, submit) {
    this.#form = form;
    this.#announce = announce;
    this.#formats("number", groupNumber);
    this.#formats("expiry", groupExpiry);
    this.#formats("code", (text) => groupCode(text, this.#scheme()));
    for (const name of names) {
      this.#field(name).addEventListener("blur", () => this.#left(name));
      this.#field(name).addEventListener("input", () => this.#typed(name));
    }
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (this.#part("pay").getAttribute("aria-busy") === "true") return;
      await this.#hosted?.check();
      if (this.#check()) submit(this.#entered());
    });
  }

  #field = (name) => this.#form.elements[name];
  #part = (id) => this.#form.querySelector(`#${id}`);

  // speak switches the texts that depend on the entered card to another language.
  speak(texts) {
    this.#texts = texts;
    this.#hint();
    for (const [name, problem] of Object.entries(this.#shown)) if (problem) this.#show(name, problem);
  }

  // test limits the form to these test cards, and lists them as buttons.
  test(cards) {
    this.#cards = new Map(cards.map((card) => [digits(card.number), card]));
    this.#accepts([...new Set(cards.map((card) => card.scheme))]);
    const list = document.getElementById("cards");
    list.replaceChildren(...cards.map((card) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      const number = document.createElement("span");
      number.className = "digits";
      number.textContent = groupNumber(card.number);
      const what = document.createElement("span");
      what.lang = "en";
      what.textContent = `${schemeOf(card.number).label} ${card.what}`; // such as "Visa is approved"
      button.append(number, " ", what);
      button.addEventListener("click", () => this.#take(card));
      item.append(button);
      return item;
    }));
    document.getElementById("tests").hidden = false;
  }

  // #accepts shows which cards are accepted.
  #accepts(names) {
    this.#part("brands").replaceChildren(...row(names));
  }

  // host replaces number and code with the tokenizer's hosted fields. They may replace expired fields, whose events are then
  // ignored.
  host(fields) {
    this.#hosted?.on(() => {});
    this.#hosted = fields;
    this.#accepts(fields.schemes);
    for (const name of ["number", "code"]) {
      this.#field(name).hidden = true;
      this.#show(name, "");
    }
    this.#hint();
    fields.on((name, problem) => {
      if (name) this.#show(name, problem);
      this.#hint();
    });
  }

  // name fills in the payer's name if the field is empty.
  name(name) {
    this.#field("name").value ||= name;
  }

  // focus moves the focus to a field, or to the submit button, named pay.
  focus(name = "number") {
    if (name === "pay") this.#part("pay").focus();
    else if (this.#hosted && (name === "number" || name === "code")) this.#hosted.focus(name);
    else this.#field(name).focus();
  }

  // mark marks fields that the bank rejected. The message is shown elsewhere.
  mark(marked) {
    for (const name of marked) this.#judge(name, true);
    if (marked[0] === "number" && !this.#hosted) this.#field("number").select(); // so that typing replaces it
  }

  // again prepares another attempt. A security code can be used only once, so its field is cleared.
  again() {
    this.#sent = false;
    this.#field("code").value = "";
    for (const name of names) this.#show(name, "");
  }

  #take(card) {
    const soon = new Date();
    this.#field("number").value = groupNumber(card.number);
    this.#field("expiry").value = groupExpiry(`12${String(soon.getFullYear() + 2).slice(2)}`);
    this.#field("code").value = "1234".slice(0, schemeOf(card.number).code || 3);
    for (const name of names) this.#show(name, "");
    document.getElementById("tests").open = false;
    this.#hint();
    this.#field(this.#field("name").value ? "number" : "name").focus();
    this.#announce(`${schemeOf(card.number).label} ${card.number.slice(-4)}`);
  }

  #scheme = () => (this.#hosted ? this.#hosted.scheme() : schemeOf(digits(this.#field("number").value)));

  // #formats formats a field while typing and preserves the caret position.
  #formats(name, format) {
    const field = this.#field(name);
    let before = field.value;
    field.addEventListener("input", (event) => {
      if (event.isComposing) return;
      const erased = event.inputType?.startsWith("delete") ?? false;
      const { text, caret } = retype(before, field.value, field.selectionStart, erased, format);
      if (field.value !== text) field.value = text;
      if (document.activeElement === field) field.setSelectionRange(caret, caret);
      before = text;
    });
    field.addEventListener("compositionend", () => field.dispatchEvent(new Event("input")));
    field.addEventListener("focus", () => (before = field.value));
  }

  #problem(name) {
    const value = this.#field(name).value;
    if (this.#hosted && (name === "number" || name === "code")) return this.#hosted.problem(name);
    switch (name) {
      case "number": {
        const problem = numberProblem(digits(value));
        return problem || !this.#cards || this.#cards.has(digits(value)) ? problem : "test_only";
      }
      case "expiry":
        return expiryProblem(value, new Date());
      case "code":
        return codeProblem(value, this.#scheme());
      default:
        return nameProblem(value);
    }
  }

  #left(name) {
    const field = this.#field(name);
    if (name === "expiry") {
      const expiry = readExpiry(field.value);
      if (expiry) field.value = groupExpiry(`${String(expiry.month).padStart(2, "0")}${String(expiry.year).slice(2)}`);
    }
    // Closing the frame blurs its fields too. And a shopper who leaves an empty field may come back to it.
    if (!document.hasFocus() || (!field.value.trim() && !this.#sent)) return;
    const problem = this.#problem(name);
    this.#show(name, problem);
    if (problem) this.#announce(this.#words(problem));
  }

  #typed(name) {
    if (!this.#shown[name] || !this.#problem(name)) this.#show(name, "");
    if (name === "number") this.#hint();
  }

  // #hint shows what the number reveals: the scheme and the format of its security code.
  #hint() {
    const scheme = this.#scheme();
    const mark = this.#part("mark");
    if (mark.dataset.scheme !== scheme.name) {
      mark.dataset.scheme = scheme.name;
      mark.replaceChildren(...(scheme.name ? brand(scheme) : []));
    }
    for (const item of this.#part("brands").children) item.classList.toggle("faint", scheme.name !== "" && item.dataset.scheme !== scheme.name);
    this.#part("where").dataset.side = scheme.code === 4 ? "front" : "back";
    if (!this.#texts) return;
    this.#part("code-hint").textContent = this.#texts.say(scheme.code === 4 ? "code_front" : "code_back");
  }

  #words(problem) {
    return this.#texts.knows(problem) ? this.#texts.say(problem, { count: this.#scheme().code || 3, example: this.#example() }) : problem;
  }

  #example = () => `12 / ${String(new Date().getFullYear() + 2).slice(2)}`;

  #show(name, problem) {
    this.#shown[name] = problem;
    const place = this.#part(`${name}-error`);
    place.textContent = problem && this.#texts ? this.#words(problem) : "";
    place.hidden = !problem;
    this.#judge(name, Boolean(problem));
  }

  // #judge marks a field as invalid or valid.
  #judge(name, wrong) {
    const field = this.#field(name);
    field.closest(".field").classList.toggle("wrong", wrong);
    if (wrong) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  // #check validates all fields and focuses the first invalid one.
  #check() {
    this.#sent = true;
    const problems = names.map((name) => [name, this.#problem(name)]);
    for (const [name, problem] of problems) this.#show(name, problem);
    const [first] = problems.filter(([, problem]) => problem);
    if (!first) return true;
    this.focus(first[0]);
    this.#announce(problems.filter(([, problem]) => problem).map(([, problem]) => this.#words(problem)).join(" "), true);
    return false;
  }

  // #entered is the card as it may leave the browser: with its token and without its number.
  #entered() {
    const { month, year } = readExpiry(this.#field("expiry").value);
    const tokenize = this.#hosted ? () => this.#hosted.tokenize() : async () => this.#cards.get(digits(this.#field("number").value)).token;
    return { month, year, name: this.#field("name").value.trim(), tokenize };
  }
}
