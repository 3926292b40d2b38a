// The API of holdfast for Node and browsers. Begin at Holdfast. The types of all requests and answers are in schema.ts, which
// `make clients` writes from the description of the API.
import createClient, { type Client } from "openapi-fetch";
import { bearer, type Credentials } from "./login.js";
import { Sender, type SenderOptions } from "./send.js";
import type { components, paths } from "./schema.js";

export { authString } from "./auth.js";
export { AnswerTooLargeError, HoldfastError, WaitingError } from "./errors.js";
export { Login, type Credentials } from "./login.js";
export { verifyWebhook } from "./webhook.js";
export type { components, paths } from "./schema.js";

/** The shapes of the API by their names, such as Schemas["Booking"]. */
export type Schemas = components["schemas"];

/** What a client is made with. */
export interface Options extends SenderOptions {
  /** The address of the deployment, such as https://holdfast.example. */
  baseUrl: string;
  /** The path of the site, such as demo. */
  site: string;
  credentials: Credentials;
  /** How the deployment has named two segments of its addresses: rest and svc, unless it says something else. */
  segments?: { rest?: string; service?: string };
}

/** The addresses that answer with a list. */
export type Lists = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { "application/json": unknown[] } } } } } ? P : never;
}[keyof paths];

/** One item of a list. */
export type Item<P extends Lists> =
  paths[P] extends { get: { responses: { 200: { content: { "application/json": (infer T)[] } } } } } ? T : never;

/** The filters of a list. */
export type Filters<P extends Lists> =
  paths[P] extends { get: { parameters: { query?: infer Q } } } ? Omit<NonNullable<Q>, "page" | "per_page" | "offset" | "count"> : never;

/** A client of one site, for one API token or one user. */
export class Holdfast {
  /**
   * One method for each method of HTTP, typed by address: api.GET("/bookings/{id}", { params: { path: { id: 5 } } }). An answer
   * that says no is thrown as a HoldfastError, so `data` is always there: ok() takes it out.
   */
  readonly api: Client<paths>;
  readonly #sender: Sender;
  readonly #base: string;

  constructor(options: Options) {
    const site = `${options.baseUrl.replace(/\/$/, "")}/${options.site}`;
    const rest = options.segments?.rest ?? "rest";
    this.#base = `${site}/${rest}/${options.segments?.service ?? "svc"}/v2`;
    this.#sender = new Sender(options, bearer(options.credentials, `${site}/${rest}/jwt-auth/v1/token`));
    this.api = createClient<paths>({
      baseUrl: this.#base,
      querySerializer: serialize,
      fetch: (request) => this.#sender.send(new Request(this.#address(request.url), request)),
    });
  }

  /** API tokens lie beside the resources. */
  #address(url: string): string {
    const tokens = `${this.#base}/api-tokens`;
    return url.startsWith(tokens) ? this.#base.replace(/\/[^/]+\/[^/]+\/v2$/, "/api-tokens") + url.slice(tokens.length) : url;
  }

  /** Goes through a list, page by page: for await (const booking of holdfast.all("/bookings", { query: { status: ["paid"] } })). */
  async *all<P extends Lists>(
    path: P,
    options: { query?: Filters<P>; path?: Record<string, number | string>; signal?: AbortSignal } = {},
  ): AsyncGenerator<Item<P>, void, undefined> {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(options.path?.[name])));
    for (let next: { page?: string; cursor?: string } | undefined = {}; next; ) {
      const query = serialize({ ...options.query, ...next, count: false });
      const init = options.signal ? { signal: options.signal } : {};
      const response = await this.#sender.send(new Request(`${this.#base}${filled}?${query}`, init));
      next = nextPage(response.headers.get("Link") ?? "");
      yield* (await response.json()) as Item<P>[];
    }
  }
}

/** Takes the next page from a Link header. The rest of its address may be another behind a proxy. */
function nextPage(link: string): { page?: string; cursor?: string } | undefined {
  const address = /<([^>]*)>; rel="next"/.exec(link)?.[1];
  if (address === undefined) return undefined;
  const query = new URL(address).searchParams;
  const cursor = query.get("cursor");
  return cursor === null ? { page: query.get("page") ?? "1" } : { cursor };
}

/** Takes the data out of an answer: const booking = await ok(holdfast.api.GET(…)). */
export async function ok<R extends { data?: unknown }>(answer: Promise<R>): Promise<NonNullable<R["data"]>> {
  return (await answer).data as NonNullable<R["data"]>;
}

/** Writes a query: lists with commas, and lists of texts that have a comma in the other form of the API. */
function serialize(query: Record<string, unknown>): string {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    const list = (Array.isArray(value) ? value : [value]).map(String);
    if (!Array.isArray(value) || !list.some((item) => item.includes(","))) made.set(name, list.join(","));
    else for (const item of list) made.append(`${name}[]`, item);
  }
  return made.toString();
}
