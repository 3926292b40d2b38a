// The rules of card numbers, expiry dates and security codes. Nothing here touches the page, so that everything can be
// tested alone.

const fours = [4, 4, 4, 4, 3];

// The schemes. Narrow ranges come before wide ones. A range is a pair of prefixes of the same length.
export const schemes = [
  { name: "amex", label: "Amex", ranges: [["34"], ["37"]], lengths: [15], groups: [4, 6, 5], code: 4 },
  { name: "diners", label: "Diners Club", ranges: [["300", "305"], ["3095"], ["36"], ["38", "39"]], lengths: [14, 16, 17, 18, 19], groups: [4, 6, 4], code: 3 },
  { name: "jcb", label: "JCB", ranges: [["3528", "3589"]], lengths: [16, 17, 18, 19], groups: fours, code: 3 },
  { name: "discover", label: "Discover", ranges: [["6011"], ["644", "649"], ["65"]], lengths: [16, 17, 18, 19], groups: fours, code: 3 },
  { name: "unionpay", label: "UnionPay", ranges: [["62"], ["81"]], lengths: [16, 17, 18, 19], groups: fours, code: 3 },
  { name: "mastercard", label: "Mastercard", ranges: [["51", "55"], ["2221", "2720"]], lengths: [16], groups: fours, code: 3 },
  { name: "maestro", label: "Maestro", ranges: [["50"], ["56", "58"], ["6304"], ["6759"], ["6761", "6763"]], lengths: [12, 13, 14, 15, 16, 17, 18, 19], groups: fours, code: 3 },
  { name: "visa", label: "Visa", ranges: [["4"]], lengths: [13, 16, 19], groups: fours, code: 3 },
];

// The rules of a number whose scheme is not known, or not known yet.
const anyScheme = { name: "", label: "", lengths: [12, 13, 14, 15, 16, 17, 18, 19], groups: fours, code: 0 };

// usual is the length of most numbers with these groups. A fifth group is for the few numbers that are longer.
const usual = (groups) => groups.slice(0, 4).reduce((sum, size) => sum + size, 0);

// digits are the digits of a text. Japanese keyboards type wide digits; they count, too.
export const digits = (text) => text.normalize("NFKC").replace(/[^0-9]/g, "");

// schemeOf is the scheme of a number. The first digits may be enough.
export function schemeOf(number) {
  const within = ([first, last = first]) => {
    const start = number.slice(0, first.length);
    return start.length === first.length && start >= first && start <= last;
  };
  return schemes.find((scheme) => scheme.ranges.some(within)) ?? anyScheme;
}

// luhn reports whether the last digit of a number is the check digit of the others.
export function luhn(number) {
  let sum = 0;
  for (let i = 0; i < number.length; i++) {
    let digit = Number(number[number.length - 1 - i]);
    if (i % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return number.length > 0 && sum % 10 === 0;
}

// groupNumber writes a number, or its beginning, with spaces as on a card of its scheme.
export function groupNumber(text) {
  const { lengths, groups } = schemeOf(digits(text));
  let rest = digits(text).slice(0, Math.max(...lengths));
  const parts = [];
  // A number that is longer than the scheme's own groups is written in fours.
  for (const size of rest.length > usual(groups) ? fours : groups) {
    if (rest) parts.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return parts.join(" ");
}

// groupExpiry writes a month and a year, or their beginning, as MM / YY. A year of four digits stays until the shopper
// leaves the field. typed is the text as it was typed, with signs that are not digits.
export function groupExpiry(text, typed = text) {
  typed = typed.normalize("NFKC");
  let all = digits(text);
  const [, year, month] = typed.match(/^\s*(20\d\d)[/.-](\d\d?)\s*$/) ?? [];
  if (year) all = month.padStart(2, "0") + year;
  else if (/^\s*[1-9]\s*[/.-]/.test(typed) || /^[2-9]/.test(all)) all = "0" + all;
  all = all.slice(0, /^..20/.test(all) ? 6 : 4);
  return all.length < 2 ? all : `${all.slice(0, 2)} / ${all.slice(2)}`;
}

// readExpiry reads a month and a year. It returns null for any other text.
export function readExpiry(text) {
  const [, month, year] = text.match(/^(0[1-9]|1[0-2]) \/ (?:20)?(\d\d)$/) ?? [];
  return month ? { month: Number(month), year: 2000 + Number(year) } : null;
}

// groupCode keeps only the digits of a security code.
export const groupCode = (text, scheme) => digits(text).slice(0, scheme.code || 4);

// The functions below return the text key of an error, or "" if there is none.

// numberProblem says what is wrong with a number. A number that is shorter than usual may be right. If it is wrong, the
// problem is that digits are missing.
export function numberProblem(number) {
  if (!number) return "number_empty";
  const { lengths, groups } = schemeOf(number);
  if (lengths.includes(number.length) && luhn(number)) return "";
  return number.length < usual(groups) ? "number_short" : "number_wrong";
}

// expiryProblem says what is wrong with an expiry date today. A card is good until its month is over everywhere on earth.
export function expiryProblem(text, today) {
  if (!digits(text)) return "expiry_empty";
  const expiry = readExpiry(text);
  if (!expiry || expiry.year > today.getFullYear() + 20) return "expiry_wrong";
  const over = Date.UTC(expiry.year, expiry.month, 1, 12);
  return over <= today.getTime() ? "expiry_past" : "";
}

// codeProblem says what is wrong with a security code for a scheme.
export function codeProblem(code, scheme) {
  if (!code) return "code_empty";
  const right = scheme.code ? code.length === scheme.code : code.length === 3 || code.length === 4;
  return right ? "" : "code_wrong";
}

// nameProblem says what is wrong with the name on a card. A number in this field was typed into the wrong field, and must
// not be sent as a name.
export function nameProblem(name) {
  if (!name.trim()) return "name_empty";
  return digits(name).length >= 6 || name.trim().length > 100 ? "name_wrong" : "";
}

// retype formats a text after a change, and says where the caret goes: after as many digits as before. erased means that
// the change removed something before the caret. If it removed only a separator, the digit before it is removed, too.
export function retype(before, after, caret, erased, format) {
  let left = digits(after.slice(0, caret));
  let right = digits(after.slice(caret));
  if (erased && digits(before) === left + right && before.length > after.length) left = left.slice(0, -1);
  const text = format(left + right, erased ? "" : after);
  const kept = digits(text);
  // The format may have added a zero before a month of one digit.
  const count = Math.min(kept.length, left.length + (kept.endsWith(left + right) ? kept.length - left.length - right.length : 0));
  let at = 0;
  for (let seen = 0; at < text.length && seen < count; at++) if (/\d/.test(text[at])) seen++;
  // After a complete group the caret moves to the next one, unless the shopper is erasing.
  if (!erased) while (at < text.length && !/\d/.test(text[at])) at++;
  return { text, caret: at };
}
