// The lifetime of a session. Before it expires, the page is asked for a new auth string, which keeps the form usable.
import { Refused, isTrouble } from "./api.js";
import { poll } from "./poll.js";

// How many seconds before expiry the page is notified. It has to get a new auth string from its server, which takes a
// moment.
const early = 120;

// Life tracks the lifetime of one session after another.
export class Life {
  #on;
  #timer = 0;

  // on.ending is called with the seconds left. on.open opens a new session with an auth string and returns its lifetime in
  // seconds. on.refused is called if the service rejects the string.
  constructor(on) {
    this.#on = on;
  }

  // begins starts tracking a session that lives this many seconds.
  begins(seconds) {
    clearTimeout(this.#timer);
    const left = Math.min(early, seconds);
    this.#timer = setTimeout(() => this.#on.ending(left), (seconds - left) * 1000);
  }

  // renew opens a session with a new auth string. It retries while the service is unavailable.
  async renew(auth) {
    let refusal = null;
    const ask = () => this.#on.open(auth).catch((error) => {
      refusal = error;
      throw error;
    });
    const seconds = await poll(ask, () => true, { limit: early * 1000 });
    if (seconds) this.begins(seconds);
    else if (refusal instanceof Refused && !isTrouble(refusal)) this.#on.refused(refusal, auth);
  }
}
