// The merchant's side of a checkout. It asks its own server for a price and an auth string, opens the payment modal with
// them, and shows every callback of the modal. No card data ever gets here.

const form = document.getElementById("checkout");
const { path, variant, sdk, type } = form.dataset;
const verify = form.dataset.verify.split(" ");
const callbacks = [
  "token_error", "booking_logged", "booking_exists", "booking_error", "transaction_result_available", "transaction_logged",
  "transaction_failed", "transaction_rejected", "transaction_timeout", "transaction_error", "modal_closed",
  "close_window_attempted", "token_expiring",
];
const input = (name) => form.querySelector(`.tmt_${name}`);
const show = (name, text) => form.querySelectorAll(`[data-show=${name}]`).forEach((element) => (element.textContent = text));

// State that survives a reload during a payment: the order, and the booking that the modal created for it.
const order = {
  ...JSON.parse(sessionStorage.getItem("order") ?? "{}"),
  keep(values) {
    Object.assign(this, values);
    sessionStorage.setItem("order", JSON.stringify(this));
  },
};

function newOrder() {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  const code = Array.from(crypto.getRandomValues(new Uint8Array(6)), (n) => letters[n % letters.length]).join("");
  order.keep({ reference: `FF-${code}`, booking: 0, travellers: 2, currency: "", paying: false, done: "" });
}

if (!order.reference) newOrder();

// The price and the auth string, from the shop's server. An auth string is good for 15 minutes.
const fresh = 10 * 60 * 1000;
let quotedAt = Date.now();
const pay = document.getElementById("pay");
let started = false;
const allow = () => (pay.disabled = !started || order.done !== "");

async function quote() {
  pay.disabled = true;
  const travellers = input("pax").valueAsNumber, currency = input("currencies").value;
  const answer = await fetch("/checkout/quote", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ travellers, currency }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  const priced = await answer.json();
  quotedAt = Date.now();
  for (const name of ["booking_auth", "channels", "currencies", "total", "country", "date", "date_start", "description"]) {
    input(name).value = priced[name];
  }
  for (const name of ["travellers", "each", "price"]) show(name, priced[name]);
  allow();
}

// A booking has one amount and one currency. If the order changes, it needs a new booking.
function fill() {
  const travellers = input("pax").valueAsNumber, currency = input("currencies").value;
  if (order.booking && (order.travellers !== travellers || order.currency !== currency)) newOrder();
  order.keep({ travellers, currency });
  input("booking_id").value = String(order.booking);
  input("reference").value = order.reference;
  input("payee_name").value = input("firstname").value;
  input("payee_surname").value = input("surname").value;
  input("payee_email").value = input("email").value;
  document.getElementById("reference").textContent = order.reference;
}

form.addEventListener("click", (event) => {
  const step = Number(event.target.dataset.step);
  if (!step) return;
  const next = input("pax").valueAsNumber + step;
  if (next < 1 || next > 6) return;
  input("pax").value = next;
  input("pax").dispatchEvent(new Event("change", { bubbles: true }));
});
input("pax").addEventListener("change", async () => {
  if (!input("pax").checkValidity()) return form.reportValidity();
  await quote();
  fill();
});

// This runs before the modal's own listener, because the modal reads these fields.
addEventListener("submit", (event) => {
  if (event.target !== form) return;
  if (Date.now() - quotedAt > fresh) {
    event.preventDefault();
    event.stopImmediatePropagation();
    quote().then(() => form.requestSubmit());
    return;
  }
  fill();
}, { capture: true });

// The modal. With a form, it is created once and opens on every submit. With a data object, it opens immediately.
function start() {
  const options = { path, environment: "test", verify, transactionType: type };
  if (variant === "form") {
    listen(new window[sdk]({ ...options, formId: "checkout" }));
  } else {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const data = {};
      for (const element of form.elements) if (element.name) data[element.name] = element.value;
      listen(new window[sdk]({ ...options, data }));
    });
  }
  started = true;
  allow();
}
window[sdk.replace("Sdk", "Ready")] = start;

function listen(modal) {
  for (const name of callbacks) {
    modal.on(name, (argument) => {
      log(name, argument);
      reactions[name]?.(argument, modal);
    });
  }
}

// How a shop handles the callbacks.
const reactions = {
  booking_logged: (booking) => order.keep({ booking: booking.id, paying: true }),
  booking_exists: () => order.keep({ paying: true }),
  transaction_logged: () => done("Thank you. Your trip is booked."),
  transaction_failed: () => order.keep({ paying: false }),
  transaction_result_available: () => find(),
  transaction_timeout: () => find(),
  token_expiring: (_, modal) => quote().then(() => modal.renew(input("booking_auth").value)),
};

const state = document.getElementById("state");

function say(text, tone) {
  state.textContent = text;
  state.dataset.tone = tone;
  state.hidden = false;
}

function done(text) {
  order.keep({ done: text, paying: false });
  allow();
  say(`${text} Order ${order.reference}, booking ${order.booking}.`, "good");
}

// find polls the shop's server for the outcome of a payment (the booking and its last transaction) until it is known.
let finding = false;
async function find() {
  if (finding) return;
  finding = true;
  say("Checking your payment …", "busy");
  for (;;) {
    const answer = await fetch(`/checkout/outcome?booking=${order.booking}`).catch(() => null);
    const { status, content, transaction } = answer?.ok ? await answer.json() : {};
    if (status === "complete") done("Thank you. Your trip is booked.");
    else if (["failed", "expired"].includes(status)) {
      order.keep({ paying: false });
      say(`Payment failed: ${content} You can try again.`, "bad");
    } else if (answer?.ok && !transaction) state.hidden = true;
    else {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      continue;
    }
    finding = false;
    return;
  }
}

// The log.
const list = document.getElementById("callbacks");

function log(name, argument) {
  const item = document.createElement("li");
  item.dataset.callback = name;
  const head = document.createElement("p");
  const title = document.createElement("code");
  title.textContent = name;
  const time = document.createElement("time");
  time.textContent = new Date().toLocaleTimeString("en-GB");
  head.append(title, time);
  const body = document.createElement("pre");
  body.textContent = JSON.stringify(argument, null, 2);
  item.append(head, body);
  list.prepend(item);
  document.getElementById("silence").hidden = true;
}

document.getElementById("clear").addEventListener("click", () => {
  list.replaceChildren();
  document.getElementById("silence").hidden = false;
});
document.getElementById("again").addEventListener("click", () => {
  sessionStorage.removeItem("order");
  location.reload();
});
document.getElementById("options").addEventListener("change", (event) => event.currentTarget.requestSubmit());

// Test cards.
const said = document.getElementById("said");
let quiet = 0;
for (const button of document.querySelectorAll("[data-card]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.card);
      said.textContent = `Copied ${button.firstElementChild.textContent}`;
    } catch {
      getSelection().selectAllChildren(button.firstElementChild);
      said.textContent = "Selected: copy it with your keyboard.";
    }
    clearTimeout(quiet);
    quiet = setTimeout(() => (said.textContent = ""), 2500);
  });
}

// After a reload, resume the order.
input("pax").value = order.travellers;
if (order.travellers !== 2) quote();
fill();
if (order.done) say(`${order.done} Order ${order.reference}, booking ${order.booking}.`, "good");
else if (order.paying) find();
