import { AnswerTooLargeError, errorOf, HoldfastError, WaitingError } from "./errors.js";

/** How requests are sent. */
export interface SenderOptions {
  /** How often a request is sent at most; 4 unless said otherwise. */
  attempts?: number;
  /** The milliseconds that one attempt may take; a minute unless said otherwise. */
  timeout?: number;
  /** The milliseconds to wait before a repetition at most; 30,000 unless said otherwise. Who is told to wait for longer gets the error. */
  patience?: number;
  /** How many bytes an answer may have; 64 MiB unless said otherwise. A larger one is not read to its end: AnswerTooLargeError. */
  maxAnswerBytes?: number;
  /** In place of the global fetch. */
  fetch?: (request: Request) => Promise<Response>;
  /** In place of a timer. Tests need it. */
  sleep?: (milliseconds: number) => Promise<void>;
}

/** Gives the token to send. not is one that the service has refused: it is replaced, if it can be. */
export type Bearer = (sender: Sender, not?: string) => Promise<string>;

/** Sends requests with credentials and keys, again where that is safe, and throws what says no. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #bearer: Bearer;

  constructor(options: SenderOptions, bearer: Bearer) {
    this.#options = options;
    this.#bearer = bearer;
  }

  /** Sends a request of the API. Whatever changes something goes under one key, unless its answer holds a secret that is shown once. */
  async send(request: Request): Promise<Response> {
    const body = request.method === "GET" ? undefined : await request.text();
    const headers = new Headers(request.headers);
    const tokenMade = request.method === "POST" && request.url.endsWith("/api-tokens");
    if (request.method !== "GET" && !tokenMade && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", crypto.randomUUID());
    const safe = request.method === "GET" || headers.has("Idempotency-Key");
    let used = await this.#bearer(this);
    const once = () => {
      headers.set("Authorization", `Bearer ${used}`);
      return this.once(request.url, { method: request.method, headers, ...(body ? { body } : {}), signal: request.signal });
    };
    try {
      return await this.repeat(once, safe, request.signal);
    } catch (error) {
      // An access token ends after fifteen minutes, and the service does nothing for it then.
      if (!(error instanceof HoldfastError) || error.code !== "jwt_auth_invalid_token") throw error;
      used = await this.#bearer(this, used);
      return this.repeat(once, safe, request.signal);
    }
  }

  /** Sends once, and throws an answer that says no. A redirect would carry the credentials elsewhere, so it is an error. */
  async once(url: string, init: RequestInit): Promise<Response> {
    const limit = AbortSignal.timeout(this.#options.timeout ?? 60_000);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const answer = await (this.#options.fetch ?? fetch)(new Request(url, { ...init, signal, redirect: "error" }));
    const response = bounded(answer, this.#options.maxAnswerBytes ?? 64 * 1024 * 1024);
    // An import is accepted, too, and waits for nobody yet.
    if (response.status === 202 && !/\/imports(\/\d+\/confirm)?(\?|$)/.test(url)) throw new WaitingError(await response.json());
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** Tries until there is a clear answer, or the attempts are used up. docs/reliability.md has the table. */
  async repeat(once: () => Promise<Response>, safe: boolean, signal?: AbortSignal): Promise<Response> {
    const { attempts = 4, patience = 30_000, sleep = timer } = this.#options;
    for (let attempt = 1, wait = 500; ; attempt++, wait *= 2) {
      try {
        return await once();
      } catch (error) {
        const answered = error instanceof HoldfastError ? error : undefined;
        const again = answered ? answered.nothingStored || (safe && answered.unclear) : safe && !(error instanceof WaitingError || error instanceof AnswerTooLargeError);
        if (!again || attempt >= attempts || signal?.aborted) throw error;
        const told = (answered?.retryAfter ?? 0) * 1000;
        if (told > patience) throw error;
        await sleep(told > 0 ? told + Math.random() * (wait / 2) : wait / 2 + Math.random() * (wait / 2));
      }
    }
  }
}

/** The same answer, whose body breaks off when it is larger than it may be. Nothing is held: whoever reads it is told in the middle. */
function bounded(response: Response, most: number): Response {
  if (!response.body) return response;
  let read = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if ((read += chunk.byteLength) > most) controller.error(new AnswerTooLargeError(most));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count), response);
}

function timer(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
