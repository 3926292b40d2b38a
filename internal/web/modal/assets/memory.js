// What the frame remembers of a payment until its tab is closed, so that a reload, or the way back, finds the booking and
// never pays twice. It is kept under a digest of what the payment is for; nothing of a card is in it.

const fields = [
  "channels", "currencies", "total", "country", "date", "date_start", "firstname", "surname", "email", "reference", "description",
  "booking_id", "allocations", "charge_channel",
];

// How long a payment that has succeeded is shown again instead of being made once more: as long as an auth string lives.
const paidFor = 15 * 60 * 1000;

// Memory is the memory of one payment; without one where the browser keeps nothing for us.
export class Memory {
  #key;

  static async of(options, data) {
    const memory = new Memory();
    const text = JSON.stringify([options.path, options.origin, options.transactionType, ...fields.map((name) => String(data[name] ?? ""))]);
    try {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      memory.#key = "holdfast." + Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    } catch {
      // Not a secure context: there is none without a memory.
    }
    return memory;
  }

  // read gives what is known of an attempt to pay, {} where there was none: the booking, the last transaction before, the key
  // under which it was made as long as its outcome is open, the beginning of the auth string, the attempts that were declined,
  // when it was paid, in which showing of the page, and whether the shopper has closed the modal since.
  read() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.#key ?? "")) ?? {};
      if (!kept.paid || Date.now() - kept.paid < paidFor) return kept;
    } catch {
      // Storage may be forbidden to frames.
    }
    return {};
  }

  // note adds to it.
  note(change) {
    if (!this.#key) return;
    try {
      sessionStorage.setItem(this.#key, JSON.stringify({ ...this.read(), ...change }));
    } catch {
      // As above.
    }
  }

  forget() {
    try {
      sessionStorage.removeItem(this.#key ?? "");
    } catch {
      // As above.
    }
  }
}

// newKey is a name under which a request is carried out once.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
