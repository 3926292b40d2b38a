// Requests to the service.

// Refused is an error response of the service. body is the error as sent.
export class Refused extends Error {
  constructor(status, body) {
    super(body.message);
    this.name = body.code;
    this.status = status;
    this.body = body;
  }
}

// isTrouble reports whether the problem is the service and not the request: the same request may succeed later.
export const isTrouble = (error) => error.status >= 500 || error.status === 429;

// Lost means that no response arrived, or an unreadable one. It is unknown whether the request was executed.
export class Lost extends Error {
  constructor(message, timedOut = false) {
    super(message);
    this.name = timedOut ? "TimeoutError" : "NetworkError";
    this.timedOut = timedOut;
  }
}

// Response timeout: longer than the service's own timeout.
const patience = { read: 20000, write: 45000 };

// Api sends the requests of one modal, with its token once it has one.
export class Api {
  #base;
  token = "";

  constructor(base) {
    this.#base = base;
  }

  session = (body) => this.#ask("POST", "sessions", body);
  cards = () => this.#ask("GET", "sandbox/cards");
  booking = (id) => this.#ask("GET", `bookings/${id}`);
  makeBooking = (body, key) => this.#ask("POST", "bookings", body, key);
  transaction = (id) => this.#ask("GET", `transactions/${id}`);
  pay = (body, key) => this.#ask("POST", "transactions", body, key);

  async #ask(method, path, body, key) {
    const headers = { Accept: "application/json" };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const signal = AbortSignal.timeout(body ? patience.write : patience.read);
    let status, answer;
    try {
      const response = await fetch(new URL(path, this.#base), {
        method, headers, signal, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
      });
      status = response.status;
      answer = await response.json();
    } catch (error) {
      throw new Lost(error.message, error.name === "TimeoutError" || status === 504);
    }
    if (status < 400) return answer;
    if (typeof answer?.code !== "string") throw new Lost(`The service responded with status ${status}.`, status === 504);
    throw new Refused(status, answer);
  }
}
