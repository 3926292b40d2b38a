// The tokenizer's hosted fields for number and security code. Each is a frame of the tokenizer, so the browser sends the
// input to the tokenizer only. The document loads the script from the configured host.
import { schemeOf } from "./card.js";

// Timeout for the tokenizer to show its fields or to respond.
const patience = 20000;

// Our names for the tokenizer's schemes, each with the first digits of a card number of the scheme.
const schemes = { visa: "4", mastercard: "51", americanexpress: "34", amex: "34", discover: "6011", diners: "36", dinersclub: "36", jcb: "3528", unionpay: "62" };

// Expired means that the tokenizer's fields were shown for too long. They no longer return tokens.
export class Expired extends Error {
  name = "ExpiredError";

  constructor() {
    super("The tokenizer's fields have expired.");
  }
}

// HostedFields replaces the fields number and code of the card form.
export class HostedFields {
  #fields;
  #scheme = schemeOf("");
  #listener = () => {};
  #problems = { number: "number_empty", code: "code_empty" };
  #waiting = null; // pending tokenize call
  #judged = null; // called once the fields are validated
  expired = false;

  // open shows the fields. It fails if the tokenizer does not.
  static async open(settings, texts, style) {
    for (const place of ["number-host", "code-host"]) document.getElementById(place).replaceChildren(); // expired fields
    const hosted = new HostedFields();
    const { Iframe } = globalThis.TokenEx ?? {};
    if (!Iframe) throw new Error("the tokenizer's script did not load");
    hosted.#fields = new Iframe("number-host", {
      tokenExID: settings.id, tokenScheme: settings.scheme, origin: settings.origin, timestamp: settings.timestamp,
      authenticationKey: settings.authentication_key,
      pci: true, cvv: true, cvvContainerID: "code-host", enablePrettyFormat: true, enableValidateOnBlur: true, enableAriaRequired: true,
      inputType: "text", inputMode: "numeric", cvvInputType: "text", cvvInputMode: "numeric",
      title: texts.say("number"), cvvTitle: texts.say("code"), iFrameTitle: texts.say("number"), cvvIFrameTitle: texts.say("code"),
      styles: { base: style, focus: "outline: 0", error: style, placeholder: "", cvv: { base: style, focus: "outline: 0", error: style } },
    });
    hosted.#listen();
    await new Promise((resolve, reject) => {
      hosted.#fields.on("load", resolve);
      setTimeout(() => reject(new Error("the tokenizer's fields did not load")), patience);
      hosted.#fields.load();
    });
    return hosted;
  }

  #listen() {
    this.#fields.on("cardTypeChange", ({ possibleCardType }) => {
      this.#scheme = schemeOf(schemes[possibleCardType?.toLowerCase()] ?? "");
      this.#listener("", "");
    });
    this.#fields.on("validate", (result) => {
      this.#problems.number = result.isValid ? "" : result.validator === "required" ? "number_empty" : "number_wrong";
      this.#problems.code = result.isCvvValid ? "" : result.cvvValidator === "required" ? "code_empty" : "code_wrong";
      // Fields are validated on blur. An empty field is an error only on submit.
      for (const [name, problem] of Object.entries(this.#problems)) if (!problem.endsWith("_empty")) this.#listener(name, problem);
      this.#judged?.();
    });
    this.#fields.on("tokenize", (result) => this.#waiting?.resolve(result.token));
    this.#fields.on("error", (result) => this.#waiting?.reject(new Error(result?.error ?? "the tokenizer returned no token")));
    this.#fields.on("expired", () => {
      this.expired = true;
      this.#waiting?.reject(new Expired());
    });
  }

  // on sets a listener. It is called with a field and its error, or without a field when the scheme changes.
  on(listener) {
    this.#listener = listener;
  }

  scheme = () => this.#scheme;
  schemes = [...new Set(Object.values(schemes).map((beginning) => schemeOf(beginning).name))];
  // Expired fields no longer accept cards, so their errors do not matter.
  problem = (name) => (this.expired ? "" : this.#problems[name]);

  // check asks the tokenizer to validate the fields now.
  async check() {
    if (this.expired) return;
    const timer = setTimeout(() => this.#judged?.(), patience);
    await new Promise((resolve) => {
      this.#judged = resolve;
      this.#fields.validate();
    });
    clearTimeout(timer);
    this.#judged = null;
  }

  focus(name = "number") {
    if (name === "code") this.#fields.cvvFocus();
    else this.#fields.focus();
  }

  // tokenize returns the token of the entered card.
  async tokenize() {
    if (this.expired) throw new Expired();
    const token = new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    const timer = setTimeout(() => this.#waiting.reject(new Error("the tokenizer did not respond")), patience);
    try {
      this.#fields.tokenize();
      return await token;
    } finally {
      clearTimeout(timer);
      this.#waiting = null;
    }
  }
}
