// The languages of the modal. The words are in texts/, with one module for each language, which the server makes. Numbers, money, days and plurals
// are written with the browser's own data of the language.
import { exponents } from "./currencies.js";
import { formsOf, writeDays } from "./forms.js";

// The languages by their codes in bookings.
export const languages = {
  deDE: "de-DE", enGB: "en-GB", esES: "es-ES", frFR: "fr-FR", itIT: "it-IT", jaJA: "ja-JP", kkKK: "kk-KZ", koKO: "ko-KR", lvLV: "lv-LV",
  ptBR: "pt-BR", roRO: "ro-RO", ruRU: "ru-RU", ukUK: "uk-UA", uzUZ: "uz-UZ", zhZH: "zh-CN",
};

const fallback = "enGB";

// guess is the first of the names that is one of our languages, or otherwise the first such language of the browser.
export function guess(...names) {
  const wanted = navigator.languages.map((tag) => Object.keys(languages).find((name) => name.slice(0, 2) === tag.slice(0, 2)));
  return [...names, ...wanted].find((name) => languages[name]) ?? fallback;
}

// Texts writes texts in one language.
export class Texts {
  #words;
  #plural;
  #own; // our own data, if the browser has none

  static async load(name) {
    const texts = new Texts();
    texts.name = name;
    texts.locale = languages[name];
    texts.lang = texts.locale.slice(0, 2);
    texts.#words = (await import(`./texts/${name}.js`)).default;
    texts.#plural = new Intl.PluralRules(texts.locale);
    texts.#own = formsOf(texts.locale);
    return texts;
  }

  // say returns a text with its {placeholders} filled in. If the text depends on a number, count selects the plural form.
  say(key, values = {}) {
    let text = this.#words[key];
    if (typeof text === "object") text = text[this.#plural.select(values.count)] ?? text.other;
    if (text === undefined) throw new Error(`unknown text ${key}`);
    const shown = "count" in values ? { ...values, count: this.#number({}).format(values.count) } : values;
    return text.replace(/\{(\w+)\}/g, (_, name) => shown[name] ?? "");
  }

  knows(key) {
    return key in this.#words;
  }

  #number = (options) => new Intl.NumberFormat(this.#own?.locale ?? this.locale, options);

  // money formats an amount in minor units. The service rejects an invalid currency later.
  money(minor, currency) {
    const digits = exponents[currency];
    if (digits === undefined) return `${minor} ${currency}`;
    const options = { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits };
    const symbol = (part) => (part.type === "currency" && this.#own?.symbols[currency]) || part.value;
    return this.#number(options).formatToParts(decimal(minor, digits)).map(symbol).join("");
  }

  // rate formats how much one unit of a currency is worth in another.
  rate(from, to, rate) {
    const number = this.#number({ maximumSignificantDigits: 6 });
    return `${number.format(1)} ${from} = ${number.format(rate)} ${to}`;
  }

  // days formats one or two days such as 2024-06-30. The service rejects invalid days later.
  days(first, last) {
    const [from, to] = [dayOf(first || last), dayOf(last)];
    if (Number.isNaN(from - to)) return last;
    if (this.#own) return writeDays(this.#own, from, to);
    const format = new Intl.DateTimeFormat(this.locale, { dateStyle: "medium", timeZone: "UTC" });
    return from < to ? format.formatRange(from, to) : format.format(to);
  }
}

const dayOf = (text) => new Date(`${text}T00:00:00Z`);

// decimal formats minor units as an exact decimal string, because amounts may be too large for JavaScript numbers.
export function decimal(minor, digits) {
  const text = String(minor).padStart(digits + 1, "0");
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

// major returns the amount as a number, exact enough for a rate.
export const major = (minor, currency) => Number(decimal(minor, exponents[currency] ?? 2));
