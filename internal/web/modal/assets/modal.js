// The part of the payment modal that runs in the merchant's page. It opens a frame of the payment service over the page, and
// passes on what the frame reports. Card data never gets here. modal.d.ts describes all objects.
(() => {
  "use strict";

  const base = new URL(".", document.currentScript.src);
  const callbacks = [
    "token_error", "booking_logged", "booking_exists", "booking_error", "transaction_result_available",
    "transaction_logged", "transaction_failed", "transaction_rejected", "transaction_timeout", "transaction_error",
    "modal_closed", "close_window_attempted",
  ];
  const fields = [
    "booking_auth", "booking_id", "channels", "country", "date", "date_start", "firstname", "surname", "email", "payee_name",
    "payee_surname", "payee_email", "payee_address", "payee_city", "payee_postcode", "payee_country", "currencies", "total",
    "description", "pax", "reference", "language", "allocations", "charge_channel",
  ];
  // If the frame may not open on this page, the browser blocks it and tells nobody. So a frame counts as blocked when it
  // takes longer than "load" to load, or, once loaded, longer than "speak" to report.
  const patience = { load: 20000, speak: 3000 };

  let open = null; // one modal at a time covers the page

  // visit says which visit of the page this is, and how the shopper came to the page.
  const visit = () => ({ began: performance.timeOrigin, by: performance.getEntriesByType("navigation")[0]?.type ?? "navigate" });

  class PaymentModal {
    #options;
    #listeners = new Map();
    #dialog = null;
    #frame = null;
    #ready = false;
    #waiting = 0;
    #due = null; // what is to open at once
    #back = null; // where the focus was
    #scroll = ""; // whether the page scrolled

    constructor(options = {}) {
      const { path, environment = "test", formId, data } = options;
      if (!/^[a-z0-9-]{2,40}$/.test(path ?? "")) throw new TypeError("path is the site's path, such as my-site");
      if (!["test", "live"].includes(environment)) throw new TypeError("environment is test or live");
      if (!formId === !data) throw new TypeError("either formId or data is needed");
      const { verify = [], transactionType = "purchase" } = options;
      if (!Array.isArray(verify)) throw new TypeError("verify is a list of field names");
      if (!["purchase", "authorize"].includes(transactionType)) throw new TypeError("transactionType is purchase or authorize");
      this.#options = { path, environment, verify, transactionType };
      if (data) {
        this.#opensWith(data);
        return;
      }
      const form = document.getElementById(formId);
      if (!(form instanceof HTMLFormElement)) throw new TypeError(`there is no form with the id ${formId}`);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#opensWith(read(form));
      });
    }

    // on sets a function that is called, with one argument, whenever the callback of that name fires.
    on(name, listener) {
      if (!callbacks.includes(name)) throw new TypeError(`there is no callback ${name}; there are ${callbacks.join(", ")}`);
      if (typeof listener !== "function") throw new TypeError("a callback is a function");
      this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
      return this;
    }

    // closeModal closes the modal, even during a payment. The outcome can then be found by the booking's id.
    closeModal() {
      this.#due = null;
      if (open === this) this.#close({ message: "The modal was closed by the page." });
    }

    // The page adds its listeners after the constructor has returned, so the modal opens later.
    #opensWith(data) {
      const due = (this.#due = Object.fromEntries(fields.flatMap((name) => (data[name] ?? "") === "" ? [] : [[name, data[name]]])));
      queueMicrotask(() => this.#due === due && this.#open(due));
    }

    #open(data) {
      open?.closeModal();
      open = this;
      this.#back = document.activeElement;
      this.#ready = false;
      const dialog = (this.#dialog = document.createElement("dialog"));
      Object.assign(dialog.style, {
        position: "fixed", inset: "0", width: "100%", height: "100%", maxWidth: "none", maxHeight: "none", margin: "0",
        padding: "0", border: "0", background: "rgb(12 18 28 / 55%)", overflow: "hidden",
      });
      const frame = (this.#frame = document.createElement("iframe"));
      frame.title = "Payment";
      const query = new URLSearchParams({ path: this.#options.path, origin: location.origin });
      frame.src = new URL(`frame?${query}`, base).href;
      // A frame stays transparent only if it has the same colour scheme as the page.
      Object.assign(frame.style, { width: "100%", height: "100%", border: "0", display: "block", colorScheme: "light dark" });
      dialog.setAttribute("aria-label", frame.title);
      dialog.append(frame);
      frame.addEventListener("load", () => this.#expect(patience.speak));
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        if (this.#ready) this.#send("close", {});
        else this.#close({ message: "The modal was closed before it had loaded." });
      });
      // Browsers close a dialog after its cancelling was prevented a few times. This dialog must close only when its frame
      // says so.
      dialog.addEventListener("close", () => {
        if (this.#dialog !== dialog) return;
        dialog.showModal();
        frame.focus();
      });
      this.#hears = (event) => this.#heard(event, data);
      addEventListener("message", this.#hears);
      this.#expect(patience.load);
      this.#scroll = document.documentElement.style.overflow;
      document.documentElement.style.overflow = "hidden";
      document.body.append(dialog);
      dialog.showModal();
      frame.focus();
    }

    #hears = null;

    #expect(milliseconds) {
      if (this.#ready) return;
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#blocked(), milliseconds);
    }

    #leaves = (event) => {
      event.preventDefault();
      event.returnValue = true;
      this.#call("close_window_attempted", { message: "A payment is on its way." });
    };

    #heard(event, data) {
      if (event.source !== this.#frame?.contentWindow || event.origin !== base.origin || event.data?.holdfast !== 1) return;
      const { kind, name, argument, on, title, lang } = event.data;
      switch (kind) {
        case "ready":
          clearTimeout(this.#waiting);
          this.#ready = true;
          this.#send("open", { data, options: this.#options, visit: visit() });
          break;
        case "callback":
          this.#call(name, argument);
          break;
        case "named": // in the language of the modal
          this.#frame.title = title;
          this.#dialog.setAttribute("aria-label", title);
          this.#dialog.lang = lang;
          break;
        case "processing":
          this.#guard(on);
          break;
        case "closed":
          this.#close(argument);
          break;
      }
    }

    // The browser asks before the shopper leaves the page, but only during a payment: a page that always listens for this
    // cannot be restored by the back button.
    #guard(on) {
      if (on) addEventListener("beforeunload", this.#leaves);
      else removeEventListener("beforeunload", this.#leaves);
    }

    #send(kind, content) {
      this.#frame.contentWindow.postMessage({ holdfast: 1, kind, ...content }, base.origin);
    }

    #blocked() {
      this.#call("token_error", {
        code: "jwt_auth_invalid_request", message: `The payment modal did not open. Is ${location.origin} one of the site's permitted URLs?`,
        data: { status: 403 },
      });
      if (open === this) this.#close({ message: "The modal did not open." }); // a listener may have closed it
    }

    // A listener that fails must not keep the others from being called.
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

  // read reads the fields of a form: the elements with the class tmt_<name> or holdfast_<name>.
  function read(form) {
    const data = {};
    for (const name of fields) {
      const element = form.querySelector(`.tmt_${name}, .holdfast_${name}`);
      if (element) data[name] = element.value;
    }
    return data;
  }

  for (const prefix of ["holdfast", "tmt"]) window[`${prefix}PaymentModalSdk`] = PaymentModal;
  // Called later, so that the page may define it before or after this script.
  const announce = () => (window.tmtPaymentModalReady ?? window.holdfastPaymentModalReady)?.();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", announce, { once: true });
  else queueMicrotask(announce);
})();
