// What the frame remembers of a payment until its tab is closed, so that after a reload or the back button it finds the
// booking and never pays twice. The key is a digest of the order. No card data is stored.

const fields = [
  "channels", "currencies", "total", "country", "date", "date_start", "firstname", "surname", "email", "reference", "description",
  "booking_id", "allocations", "charge_channel",
];

// How long the result of a successful payment is shown again, so that nobody pays twice: as long as an auth string is valid.
const paidFor = 15 * 60 * 1000;

// Memory is the memory of one payment. If the browser blocks storage, it stays empty.
export class Memory {
  #key;

  static async of(options, data) {
    const memory = new Memory();
    const text = JSON.stringify([options.path, options.origin, options.transactionType, ...fields.map((name) => String(data[name] ?? ""))]);
    try {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      memory.#key = "holdfast." + Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    } catch {
      // Not a secure context: store nothing.
    }
    return memory;
  }

  // read returns what is known of a payment attempt, or {}: the booking, the last transaction before it, its key while the
  // outcome is unknown, the start of the auth string, the number of declined attempts, when it was paid and during which
  // visit, and whether the shopper has closed the modal since.
  read() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.#key ?? "")) ?? {};
      if (!kept.paid || Date.now() - kept.paid < paidFor) return kept;
    } catch {
      // The browser may block storage in frames.
    }
    return {};
  }

  // note adds values to the memory.
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

// newKey returns an idempotency key: the service executes requests with the same key only once.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
