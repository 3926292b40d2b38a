// Some browsers silently lack locale data for some languages. This is CLDR's data for these.

const forms = {
  kk: {
    months: ["қаң.", "ақп.", "нау.", "сәу.", "мам.", "мау.", "шіл.", "там.", "қыр.", "қаз.", "қар.", "жел."],
    symbols: { KZT: "₸" },
    day: "{y} ж. {d} {m}", month: "{y} ж. {d}–{d2} {m}", year: "{y} ж. {d} {m} – {d2} {m2}", years: "{y} ж. {d} {m} – {y2} ж. {d2} {m2}",
  },
  uz: {
    months: ["yan", "fev", "mar", "apr", "may", "iyn", "iyl", "avg", "sen", "okt", "noy", "dek"],
    symbols: { UZS: "soʻm" },
    day: "{d}-{m}, {y}", month: "{d} – {d2}-{m}, {y}", year: "{d}-{m} – {d2}-{m2}, {y}", years: "{d}-{m}, {y} – {d2}-{m2}, {y2}",
  },
};

// Kazakh and Uzbek format numbers like Russian, which every browser supports.
const alike = "ru-RU";

// formsOf returns our own data for a locale, or undefined if the browser supports it.
export function formsOf(locale) {
  const own = forms[locale.slice(0, 2)];
  const month = new Intl.DateTimeFormat(locale, { month: "short", timeZone: "UTC" }).format(0);
  return own && /^M?\d/.test(month) ? { ...own, locale: alike } : undefined;
}

// writeDays formats one or two days, in GMT.
export function writeDays(own, first, last) {
  const parts = (day) => [day.getUTCFullYear(), own.months[day.getUTCMonth()], day.getUTCDate()];
  const [y, m, d] = parts(first);
  const [y2, m2, d2] = parts(last);
  let pattern = own.day;
  if (y !== y2) pattern = own.years;
  else if (m !== m2) pattern = own.year;
  else if (d !== d2) pattern = own.month;
  return pattern.replace(/\{(\w+)\}/g, (_, name) => ({ y, m, d, y2, m2, d2 })[name]);
}
