// The life of a session. Before it ends, the page is told to bring a new auth string. With it the form goes on.
import { Refused, isTrouble } from "./api.js";
import { poll } from "./poll.js";

// How many seconds before the end the page is told. The page has to ask its server for a string, which takes a moment.
const early = 120;

// Life watches the life of one session after another.
export class Life {
  #on;
  #timer = 0;

  // on.ending is called with the seconds that are left. on.open opens another session with an auth string, and returns its
  // seconds. on.refused is called when the service refuses the string.
  constructor(on) {
    this.#on = on;
  }

  // begins says that a session has begun, and how many seconds it lives.
  begins(seconds) {
    clearTimeout(this.#timer);
    const left = Math.min(early, seconds);
    this.#timer = setTimeout(() => this.#on.ending(left), (seconds - left) * 1000);
  }

  // renew goes on with a new auth string. While the service is in trouble it is asked again.
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
