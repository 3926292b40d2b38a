import type { components } from "./schema.js";

/** An answer that says no. Later versions may have more codes: go by the status when you do not know the code. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";

  constructor(
    readonly status: number,
    /** Such as rest_invalid_param; empty if something else than the API answered, such as a proxy. */
    readonly code: string,
    message: string,
    /** What is wrong with each wrong field. */
    readonly params: Readonly<Record<string, string>> = {},
    /** The fields that are missing, if nothing else is wrong. */
    readonly missing: readonly string[] = [],
    /** One word, for example why a transaction is not possible. */
    readonly reason = "",
    /** Names the request in the service's log. */
    readonly requestId = "",
    /** The seconds to wait before the same request is sent again; 0 if the answer does not say it. */
    readonly retryAfter = 0,
  ) {
    super(`${status} ${code || "which is no answer of the API"}: ${message}`);
  }

  /** The service refused the request before it did anything, so whoever sent it may send it again. */
  get nothingStored(): boolean {
    return this.code === "rest_too_many_requests" || (this.code === "service_unavailable" && this.reason !== "outcome_unknown");
  }

  /** The request may have been carried out or not. */
  get unclear(): boolean {
    return this.code === "idempotency_in_flight" || this.status === 429 || (this.status >= 500 && this.status !== 501);
  }
}

/** Nothing was done yet: outside a sandbox, the change needs a second person. */
export class WaitingError extends Error {
  override readonly name = "WaitingError";

  constructor(readonly proposal: components["schemas"]["Proposal"]) {
    super(`the change waits for another person, as proposal ${proposal.id}`);
  }
}

/** The answer has more bytes than `maxAnswerBytes`. The request itself may have been carried out. */
export class AnswerTooLargeError extends Error {
  override readonly name = "AnswerTooLargeError";

  constructor(readonly maxAnswerBytes: number) {
    super(`the answer has more than ${maxAnswerBytes} bytes`);
  }
}

/** Reads the answer that says no. */
export async function errorOf(response: Response): Promise<HoldfastError> {
  const seconds = Number(response.headers.get("Retry-After"));
  const wait = Number.isInteger(seconds) && seconds > 0 ? seconds : 0;
  try {
    const said = (await response.json()) as components["schemas"]["Error"];
    const params: unknown = said.data.params ?? {};
    const list = Array.isArray(params);
    return new HoldfastError(
      response.status, said.code, said.message, list ? {} : (params as Record<string, string>), list ? (params as string[]) : [],
      said.data.reason ?? "", said.data.request_id, wait,
    );
  } catch {
    return new HoldfastError(response.status, "", response.statusText, {}, [], "", "", wait);
  }
}
