import { HoldfastError } from "./errors.js";
import type { Bearer, Sender } from "./send.js";
import type { components } from "./schema.js";

type Session = components["schemas"]["Session"];

/** An API token of the form id|secret, for programs; or a user with a password. */
export type Credentials = { apiToken: string } | Login;

/** Makes the function that gives the token to send. */
export function bearer(credentials: Credentials, address: string): Bearer {
  if (credentials instanceof Login) return (sender, not) => credentials.bearer(sender, address, not);
  return async () => credentials.apiToken;
}

/**
 * A user with a password. The client logs in with the first request, refreshes the access token when it has ended, and logs in
 * again when the refresh token has. Use each Login for one client: its refresh token rotates, and a copy of an old one ends the login.
 */
export class Login {
  readonly #username: string;
  readonly #password: string;
  readonly #secondFactor: (() => Promise<string>) | undefined;
  #session: Session | undefined;
  #renewing: Promise<string> | undefined;

  /** secondFactor gives the code of the second factor, if the user has one. */
  constructor(username: string, password: string, secondFactor?: () => Promise<string>) {
    this.#username = username;
    this.#password = password;
    this.#secondFactor = secondFactor;
  }

  /** Who is logged in, and on which sites; undefined before the first request. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Gives the access token. Many may ask at once, and one login or refresh serves all of them. */
  async bearer(sender: Sender, address: string, not?: string): Promise<string> {
    if (this.#session && this.#session.token !== not) return this.#session.token;
    this.#renewing ??= this.#renew(sender, address).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(sender: Sender, address: string): Promise<string> {
    if (this.#session) {
      const headers = { Authorization: `Bearer ${this.#session.refresh_token}` };
      try {
        // For a minute, the token before gets the same answer again. So this may be repeated when an answer was lost.
        const made = await sender.repeat(() => sender.once(`${address}/refresh`, { method: "POST", headers }), true);
        this.#session = (await made.json()) as Session;
        return this.#session.token;
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== "jwt_auth_invalid_token") throw error;
        this.#session = undefined;
      }
    }
    const body = JSON.stringify({
      username: this.#username, password: this.#password, rotate_refresh_token: true,
      ...(this.#secondFactor ? { two_factor_code: await this.#secondFactor() } : {}),
    });
    const headers = { "Content-Type": "application/json" };
    const made = await sender.repeat(() => sender.once(address, { method: "POST", headers, body }), false);
    this.#session = (await made.json()) as Session;
    return this.#session.token;
  }
}
