// The part of the payment modal that runs in the merchant's page. It opens a frame of the payment service over the page and
// forwards what the frame reports. Card data never gets here. modal.d.ts has the types.
(() => {
  "use strict";

  const base = new URL(".", document.currentScript.src);
  const callbacks = [
    "token_error", "booking_logged", "booking_exists", "booking_error", "transaction_result_available",
    "transaction_logged", "transaction_failed", "transaction_rejected", "transaction_timeout", "transaction_error",
    "modal_closed", "close_window_attempted", "token_expiring",
  ];
  const fields = [
    "booking_auth", "booking_id", "channels", "country", "date", "date_start", "firstname", "surname", "email", "payee_name",
    "payee_surname", "payee_email", "payee_address", "payee_city", "payee_postcode", "payee_country", "currencies", "total",
    "description", "pax", "reference", "language", "allocations", "charge_channel", "transactionType",
  ];
  const transactionTypes = ["purchase", "authorize"];
  // Browsers silently block a frame that may not open on this page. So a frame counts as blocked if it takes longer than
  // "load" to load or, once loaded, longer than "speak" to report. It then has "load" again to get its texts.
  const patience = { load: 20000, speak: 3000 };

  // Data for the cover. For each language: locale, title of the modal, label of the close button. For each currency without
  // two decimals: its number of decimals (ISO 4217).
  const languages = {
    deDE: ["de-DE", "Zahlung", "Schließen"],
    enGB: ["en-GB", "Payment", "Close"],
    esES: ["es-ES", "Pago", "Cerrar"],
    frFR: ["fr-FR", "Paiement", "Fermer"],
    itIT: ["it-IT", "Pagamento", "Chiudi"],
    jaJA: ["ja-JP", "お支払い", "閉じる"],
    kkKK: ["kk-KZ", "Төлем", "Жабу"],
    koKO: ["ko-KR", "결제", "닫기"],
    lvLV: ["lv-LV", "Maksājums", "Aizvērt"],
    ptBR: ["pt-BR", "Pagamento", "Fechar"],
    roRO: ["ro-RO", "Plată", "Închide"],
    ruRU: ["ru-RU", "Оплата", "Закрыть"],
    ukUK: ["uk-UA", "Оплата", "Закрити"],
    uzUZ: ["uz-UZ", "To‘lov", "Yopish"],
    zhZH: ["zh-CN", "付款", "关闭"],
  };
  const decimals = {};
  for (const [count, list] of [
    [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF TRL UGX UYI VND VUV XAF XOF XPF"], [3, "BHD IQD JOD KWD LYD OMR TND"], [4, "CLF UYW"],
  ]) for (const currency of list.split(" ")) decimals[currency] = count;

  // words returns the texts of a language, falling back to the browser's first supported language.
  function words(name) {
    const found = [name, ...navigator.languages.map((tag) => Object.keys(languages).find((known) => known.slice(0, 2) === tag.slice(0, 2)))]
      .find((known) => Object.hasOwn(languages, known)) ?? "enGB";
    const [locale, title, close] = languages[found];
    return { name: found, locale, title, close };
  }

  function money(total, currency, locale) {
    try {
      const digits = decimals[currency] ?? 2;
      const text = String(total).padStart(digits + 1, "0");
      const options = { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits };
      return new Intl.NumberFormat(locale, options).format(digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text);
    } catch {
      return ""; // the service reports the error
    }
  }

  // The cover is shown until the frame has loaded. It looks like the frame; its sizes match frame.css.
  const look = `
    :host { color-scheme: light dark; --paper: #fff; --tint: #f4f6f9; --ink: #16202b; --quiet: #566272; --line: #dde2e9; }
    @media (prefers-color-scheme: dark) { :host { --paper: #161c25; --tint: #1c2430; --ink: #e9eef4; --quiet: #a7b2c1; --line: #303b4a; } }
    * { box-sizing: border-box; }
    :host { position: absolute; inset: 0; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif; }
    .panel { position: relative; display: flex; flex-direction: column; width: 100%; height: 100%; overflow: hidden; color: var(--ink); background: var(--paper); }
    .sum { padding: 12px 60px 10px 20px; background: var(--tint); border-bottom: 1px solid var(--line); }
    .amount { display: block; min-height: 1.25em; font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; overflow-wrap: anywhere; }
    .stage { flex: 1; display: grid; gap: 16px 12px; grid-template-columns: 1fr 1fr; align-content: start; padding: 20px; }
    i { display: block; height: 48px; margin-top: 27px; border-radius: 10px; background: var(--line); grid-column: 1 / -1; }
    .thin { width: 15rem; max-width: 100%; height: 22px; margin: 0; border-radius: 4px; }
    .sum .thin { width: 9rem; }
    .half { grid-column: auto; margin-bottom: 42px; }
    .main { height: 50px; margin-top: 4px; }
    button:focus-visible { outline: 3px solid #4a86ea; outline-offset: -3px; }
    button { position: absolute; top: 8px; right: 8px; width: 44px; height: 44px; padding: 0; color: var(--quiet); background: none; border: 0; border-radius: 50%; cursor: pointer; }
    button:hover { color: var(--ink); background: var(--line); }
    button::before, button::after { content: ""; position: absolute; left: 14px; top: 21px; width: 16px; height: 2px; border-radius: 1px; background: currentColor; rotate: 45deg; }
    button::after { rotate: -45deg; }
    @media (prefers-reduced-motion: no-preference) {
      i { animation: wait 1.4s ease-in-out infinite alternate; }
      @keyframes wait { to { opacity: .45; } }
    }
    @media (min-width: 480px) { .sum { padding-inline: 28px 64px; } .stage { padding: 24px 28px 28px; } .half { margin-bottom: 24px; } }
    @media (min-width: 560px) and (min-height: 600px) {
      .panel { width: min(30rem, 100% - 48px); height: min(45rem, 100% - 32px); border: 1px solid var(--line); border-radius: 18px; box-shadow: 0 24px 64px rgb(8 14 24 / 28%); }
    }
    @media (min-width: 740px) and (min-height: 600px) {
      .panel { display: grid; grid-template-columns: 18rem 1fr; width: min(52rem, 100% - 48px); height: min(42rem, 100% - 32px); }
      .sum { padding: 32px 28px; border: 0; border-right: 1px solid var(--line); }
      .amount { margin-top: 4px; font-size: 32px; }
      .amount.long { font-size: 24px; }
      .stage { padding: 32px 36px 36px; }
      button { top: 14px; right: 14px; }
    }
    @media (max-height: 599px) {
      .sum { padding-block: 8px 6px; }
      .sum .thin { display: none; }
      .amount, .amount.long { font-size: 20px; }
    }`;

  // cover builds the cover with a shadow tree and a constructed style sheet, so that the page's styles and content security
  // policy do not affect it.
  function cover(text, amount, close) {
    const host = document.createElement("div");
    const within = host.attachShadow({ mode: "open" });
    const add = (parent, name, className) => {
      const element = parent.appendChild(document.createElement(name));
      element.className = className;
      return element;
    };
    const panel = add(within, "div", "panel");
    const button = add(panel, "button", "");
    button.type = "button";
    button.setAttribute("aria-label", text.close);
    button.addEventListener("click", close);
    const sum = add(panel, "div", "sum");
    add(sum, "i", "thin");
    add(sum, "strong", amount.length > 11 ? "amount long" : "amount").textContent = amount;
    const stage = add(panel, "div", "stage");
    for (const name of ["thin", "", "half", "half", "", "main"]) add(stage, "i", name);
    try {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(look);
      within.adoptedStyleSheets = [sheet];
    } catch {
      panel.replaceChildren(button); // old browsers
    }
    return { host, button };
  }

  let open = null; // the open modal: at most one

  // visit returns when and how the page was opened: by a link, by a reload, or from the browser's history.
  const visit = () => ({ began: performance.timeOrigin, by: performance.getEntriesByType("navigation")[0]?.type ?? "navigate" });

  class PaymentModal {
    #options;
    #listeners = new Map();
    #dialog = null;
    #frame = null;
    #cover = null;
    #ready = false; // the frame has reported
    #shown = false; // the frame is visible
    #waiting = 0;
    #due = null; // data of a modal that is about to open
    #back = null; // the element that had the focus
    #scroll = ""; // the page's overflow style

    constructor(options = {}) {
      const { path, formId, data } = options;
      if (!/^[a-z0-9-]{2,40}$/.test(path ?? "")) throw new TypeError("path must be the site's path, such as my-site");
      if (!formId === !data) throw new TypeError("pass either formId or data");
      const { verify = [], transactionType } = options;
      if (!Array.isArray(verify)) throw new TypeError("verify must be an array of field names");
      // Any other environment is ignored; the merchant's own applies.
      const environment = ["test", "live"].find((known) => known === options.environment);
      this.#options = { path, environment, verify, transactionType };
      this.#typeOf(data ?? {});
      if (data) {
        this.#opensWith(data);
        return;
      }
      const form = document.getElementById(formId);
      if (!(form instanceof HTMLFormElement)) throw new TypeError(`no form with the ID ${formId}`);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#opensWith(read(form));
      });
    }

    // on adds a listener for a callback. It is called with one argument.
    on(name, listener) {
      if (!callbacks.includes(name)) throw new TypeError(`unknown callback ${name}: must be one of ${callbacks.join(", ")}`);
      if (typeof listener !== "function") throw new TypeError("a callback must be a function");
      this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
      return this;
    }

    // closeModal closes the modal, even during a payment. The outcome can then be looked up by booking ID.
    closeModal() {
      this.#due = null;
      if (open === this) this.#close({ message: "The modal was closed by the page." });
    }

    // renew passes a new auth string for the same payment when the open modal's session is about to expire.
    renew(auth) {
      if (open === this && this.#shown) this.#send("renew", { auth: String(auth) });
    }

    // #typeOf returns the transaction type. The option takes precedence over the data.
    #typeOf(data) {
      const type = this.#options.transactionType || data.transactionType || "purchase";
      if (!transactionTypes.includes(type)) throw new TypeError(`transactionType must be one of ${transactionTypes.join(", ")}`);
      return type;
    }

    // The page adds its listeners after the constructor returns, so opening is deferred.
    #opensWith(data) {
      this.#typeOf(data);
      const due = (this.#due = Object.fromEntries(fields.flatMap((name) => (data[name] ?? "") === "" ? [] : [[name, data[name]]])));
      queueMicrotask(() => this.#due === due && this.#open(due));
    }

    #open(data) {
      open?.closeModal();
      open = this;
      this.#back = document.activeElement;
      const text = words(data.language);
      const dialog = (this.#dialog = document.createElement("dialog"));
      Object.assign(dialog.style, {
        position: "fixed", inset: "0", width: "100%", height: "100%", maxWidth: "none", maxHeight: "none", margin: "0",
        padding: "0", border: "0", background: "rgb(12 18 28 / 55%)", overflow: "hidden",
      });
      this.#cover = cover(text, money(data.total, data.currencies, text.locale), () => this.#dismiss());
      const frame = (this.#frame = document.createElement("iframe"));
      const query = new URLSearchParams({ path: this.#options.path, origin: location.origin, language: text.name });
      frame.src = new URL(`frame?${query}`, base).href;
      // A frame is transparent only if its colour scheme matches the page's.
      Object.assign(frame.style, { position: "absolute", inset: "0", width: "100%", height: "100%", border: "0", colorScheme: "light dark" });
      this.#named(text.title, text.locale.slice(0, 2));
      dialog.append(frame);
      frame.addEventListener("load", () => this.#ready || this.#expect(patience.speak));
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        this.#dismiss();
      });
      // Browsers close a dialog after a few prevented cancel events. This dialog may close only when its frame says so.
      dialog.addEventListener("close", () => {
        if (this.#dialog !== dialog) return;
        dialog.showModal();
        this.#focus();
      });
      this.#hears = (event) => this.#heard(event, data);
      addEventListener("message", this.#hears);
      this.#scroll = document.documentElement.style.overflow;
      document.documentElement.style.overflow = "hidden";
      document.body.append(dialog);
      dialog.showModal();
      this.#hide();
      this.#expect(patience.load);
    }

    // #hide covers the frame while it loads. Until it has loaded, the page itself handles closing.
    #hide() {
      this.#ready = this.#shown = false;
      this.#dialog.append(this.#cover.host);
      this.#dialog.ariaBusy = "true";
      this.#frame.inert = true;
      this.#frame.style.opacity = "0";
      this.#focus();
    }

    #show() {
      if (this.#shown) return;
      clearTimeout(this.#waiting);
      this.#shown = true;
      this.#dialog.ariaBusy = "false";
      this.#frame.inert = false;
      this.#frame.style.opacity = "1";
      this.#cover.host.remove();
      this.#focus();
    }

    #focus() {
      if (this.#shown) this.#frame.focus();
      else this.#cover.button.focus({ preventScroll: true });
    }

    #named(title, lang) {
      this.#frame.title = title;
      this.#dialog.setAttribute("aria-label", title);
      this.#dialog.lang = lang;
    }

    // #dismiss handles the shopper closing the modal. During a payment, the frame asks for confirmation first.
    #dismiss() {
      if (this.#shown) this.#send("close", {});
      else this.#close({ message: "The modal was closed before it was ready." });
    }

    #hears = null;

    #expect(milliseconds) {
      if (this.#shown) return;
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#blocked(), milliseconds);
    }

    #leaves = (event) => {
      event.preventDefault();
      event.returnValue = true;
      this.#call("close_window_attempted", { message: "A payment is in progress." });
    };

    #heard(event, data) {
      if (event.source !== this.#frame?.contentWindow || event.origin !== base.origin || event.data?.holdfast !== 1) return;
      const { kind, name, argument, on, title, lang } = event.data;
      switch (kind) {
        case "ready":
          this.#ready = true;
          this.#expect(patience.load);
          this.#send("open", { data, options: { ...this.#options, transactionType: this.#typeOf(data) }, visit: visit() });
          break;
        case "callback":
          this.#call(name, argument);
          break;
        case "named": // title in the modal's language; the frame is now visible
          this.#named(title, lang);
          this.#show();
          break;
        case "reloads":
          this.#hide();
          this.#expect(patience.load);
          break;
        case "processing":
          this.#guard(on);
          break;
        case "closed":
          this.#close(argument);
          break;
      }
    }

    // Confirm before the shopper leaves the page, but only during a payment: pages with a beforeunload listener cannot be
    // restored by the back button.
    #guard(on) {
      if (on) addEventListener("beforeunload", this.#leaves);
      else removeEventListener("beforeunload", this.#leaves);
    }

    #send(kind, content) {
      this.#frame.contentWindow.postMessage({ holdfast: 1, kind, ...content }, base.origin);
    }

    #blocked() {
      if (this.#ready) this.#call("transaction_error", { name: "NetworkError", message: "The payment modal did not load." });
      else this.#call("token_error", {
        code: "jwt_auth_invalid_request", message: `The payment modal did not open. Is ${location.origin} one of the site's permitted origins?`,
        data: { status: 403 },
      });
      if (open === this) this.#close({ message: "The modal did not open." }); // a listener may have closed it
    }

    // A failing listener must not stop the others.
    #call(name, argument) {
      for (const listener of this.#listeners.get(name) ?? []) {
        try {
          listener(structuredClone(argument));
        } catch (error) {
          reportError(error);
        }
      }
    }

    #close(argument) {
      clearTimeout(this.#waiting);
      removeEventListener("message", this.#hears);
      this.#guard(false);
      const dialog = this.#dialog;
      this.#dialog = this.#frame = null;
      dialog.close();
      dialog.remove();
      document.documentElement.style.overflow = this.#scroll;
      open = null;
      this.#back?.focus?.({ preventScroll: true });
      this.#call("modal_closed", argument);
    }
  }

  // read reads a form's fields: elements with the class tmt_<name> or holdfast_<name>.
  function read(form) {
    const data = {};
    for (const name of fields) {
      const element = form.querySelector(`.tmt_${name}, .holdfast_${name}`);
      if (element) data[name] = element.value;
    }
    return data;
  }

  for (const prefix of ["holdfast", "tmt"]) window[`${prefix}PaymentModalSdk`] = PaymentModal;
  // Deferred, so that the page may define it before or after this script.
  const announce = () => (window.tmtPaymentModalReady ?? window.holdfastPaymentModalReady)?.();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", announce, { once: true });
  else queueMicrotask(announce);
})();
