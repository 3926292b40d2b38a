// Goes through the client against a running demo: HOLDFAST_URL, HOLDFAST_TOKEN and HOLDFAST_PASSWORD (of demo-admin) say where.
// The parts between lines of dashes stand in docs/clients.md, too; a test compares them.
import assert from "node:assert/strict";
import { AnswerTooLargeError, authString, Holdfast, HoldfastError, Login, ok, verifyWebhook, WaitingError } from "../src/index.js";

const { HOLDFAST_URL: baseUrl = "", HOLDFAST_TOKEN: apiToken = "", HOLDFAST_PASSWORD: password = "" } = process.env;

// ---- a booking and a payment
const holdfast = new Holdfast({ baseUrl, site: "demo", credentials: { apiToken } });
const [channel] = await ok(holdfast.api.GET("/channels", { params: { query: { account_mode: ["test"] } } }));
assert(channel);

const booking = await ok(holdfast.api.POST("/bookings", {
  body: {
    channels: channel.id, currencies: channel.currencies, total: 125000, firstname: "Ada", surname: "Lovelace",
    email: "ada@example.com", content: "Seven nights, half board", date: "2030-06-27", countries: "FR",
  },
}));
const payment = await ok(holdfast.api.POST("/transactions", {
  body: {
    channels: channel.id, currencies: channel.currencies, total: 25000, transaction_types: "purchase",
    bookings: [{ id: booking.id, currencies: channel.currencies, total: 25000 }],
  },
}));
console.log(payment.status);
// ----
assert.equal(payment.status, "complete");
const now = await ok(holdfast.api.GET("/bookings/{id}", { params: { path: { id: booking.id } } }));
assert.equal(now.total_unpaid, 100000);

// ---- lists
let count = 0;
for await (const trip of holdfast.all("/bookings", { query: { status: ["paid", "partial-payment"], countries: ["FR", "ES"] } })) {
  if (trip.total > 0) count++;
}
// ----
assert(count > 100, `a list of several pages has ${count} items`);

// ---- errors
try {
  await holdfast.api.GET("/bookings/{id}", { params: { path: { id: 999999999 } } });
} catch (error) {
  if (!(error instanceof HoldfastError)) throw error;
  console.log(error.status, error.code);
}
// ----
const missing = await holdfast.api.GET("/bookings/{id}", { params: { path: { id: 999999999 } } }).catch((error: unknown) => error);
assert(missing instanceof HoldfastError && missing.code === "rest_post_invalid_id" && missing.requestId !== "");
const wrong = await holdfast.api
  .POST("/bookings", { body: { ...booking, pax: 2, suppliers: [], currencies: "XTS" } })
  .catch((error: unknown) => error);
assert(wrong instanceof HoldfastError && wrong.params["currencies"], String(wrong));

// ---- one key, one booking
const order = {
  body: {
    channels: channel.id, currencies: channel.currencies, total: 80000, firstname: "Alan", surname: "Turing",
    email: "alan@example.com", content: "A weekend", date: "2030-05-10", countries: "GB",
  },
  headers: { "Idempotency-Key": "order-2093" },
};
const first = await ok(holdfast.api.POST("/bookings", order));
const again = await ok(holdfast.api.POST("/bookings", order));
console.log(first.id === again.id);
// ----
assert.equal(first.id, again.id);

// ---- a login
const login = new Login("demo-admin", password);
const desk = new Holdfast({ baseUrl, site: "demo", credentials: login });
const report = await ok(desk.api.GET("/exposure", { params: { query: { by: "channel" } } }));
console.log(login.session?.usertype, report.total.e1_report, report.currency);
// ----
assert.equal(login.session?.usertype, "member_admin");
assert(Array.isArray(await ok(desk.api.GET("/api-tokens"))));

// ---- the payment modal
const auth = await authString("example-channel-secret", { channels: 2, currencies: "USD", total: 9999 }, new Date("2019-08-12T05:52:13Z"));
// ----
assert.equal(auth, "bbba981afdcdc5064f72f535707b7eba3f521e5d19dc77c7b860c00204002bff20190812055213");
await assert.rejects(authString("s", { channels: 2, currencies: "USD", total: 99.99 }, new Date()), /whole number/);

// ---- webhooks
const headers = new Headers({
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
});
await verifyWebhook(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], headers, '{"test": 2432232314}', new Date(1614265330_000));
// ----
for (const [secret, body, at, why] of [
  ["whsec_c2Vjb25kIHNlY3JldCBvZiBhIHRlc3Q=", '{"test": 2432232314}', 1614265330_000, /no signature/],
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"test": 2432232315}', 1614265330_000, /no signature/],
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"test": 2432232314}', 1614265690_000, /five minutes/],
] as const) {
  await assert.rejects(verifyWebhook([secret], headers, body, new Date(at)), why);
}

// What is sent again, by a service that answers as a line says: the status, the code, its reason.
const lost = "lost";
for (const [answer, read, keyed, plain] of [
  ["400 rest_invalid_param", false, false, false],
  ["409 idempotency_in_flight", true, true, false],
  ["429 rest_too_many_requests", true, true, true],
  ["500 internal_error", true, true, false],
  ["502", true, true, false],
  ["503 service_unavailable", true, true, true],
  ["503 service_unavailable outcome_unknown", true, true, false],
  [lost, true, true, false],
] as const) {
  const keys: (string | null)[] = [];
  const waits: number[] = [];
  const scripted = new Holdfast({
    baseUrl: "https://service.example", site: "demo", credentials: { apiToken: "1|secret" },
    sleep: async (milliseconds) => void waits.push(milliseconds),
    fetch: async (request) => {
      keys.push(request.headers.get("Idempotency-Key"));
      if (keys.length % 2 === 0) return Response.json({ id: 1 });
      const [status, code, reason] = answer.split(" ");
      if (status === lost) throw new TypeError("fetch failed");
      if (!code) return new Response("", { status: Number(status) });
      return Response.json({ code, message: "No.", data: { status, reason, request_id: "r" } }, { status: Number(status), headers: { "Retry-After": "2" } });
    },
  });
  for (const [again, call] of [
    [read, () => scripted.api.GET("/clock")],
    [keyed, () => scripted.api.DELETE("/bookings/{id}", { params: { path: { id: 1 } } })],
    [plain, () => scripted.api.POST("/api-tokens", { body: { name: "x" } })],
  ] as const) {
    keys.length = 0;
    await call().catch((error: unknown) => assert(!again, String(error)));
    assert.equal(keys.length, again ? 2 : 1, `${answer}: ${keys.length} requests`);
    assert.equal(new Set(keys).size, 1, "a repetition has the same key");
  }
  assert(waits.every((wait) => wait >= (answer === lost || answer === "502" ? 250 : 2000)), String(waits));
}

// A change that waits for another person, and an access token that has ended.
const bearers: (string | null)[] = [];
const answers = [
  Response.json({ token: "a", refresh_token: "r" }),
  Response.json({ code: "jwt_auth_invalid_token", message: "No.", data: { status: 403, request_id: "r" } }, { status: 403 }),
  Response.json({ token: "b", refresh_token: "s" }),
  Response.json({ id: 12 }, { status: 202 }),
];
const waiting = new Holdfast({
  baseUrl: "https://service.example", site: "demo", credentials: new Login("u", "p"),
  fetch: async (request) => {
    bearers.push(request.headers.get("Authorization"));
    return answers.shift() ?? Response.error();
  },
});
const said = await waiting.api.PUT("/channels/{id}", { params: { path: { id: 3 } }, body: { locked: false } }).catch((error: unknown) => error);
assert(said instanceof WaitingError && said.proposal.id === 12, String(said));
assert.deepEqual(bearers, [null, "Bearer a", "Bearer r", "Bearer b"]);

// An import is accepted, and is no change that waits for another person.
const importing = new Holdfast({
  baseUrl: "https://service.example", site: "demo", credentials: { apiToken: "1|secret" },
  fetch: async () => Response.json({ id: 7, state: "queued" }, { status: 202 }),
});
const accepted = await ok(importing.api.POST("/imports/{id}/confirm", { params: { path: { id: 7 } } }));
assert.equal(accepted.id, 7);

// An answer that does not end is not read for ever, whatever it says; and what fits is read.
for (const [status, most] of [[200, 64 * 1024 * 1024], [200, 5000], [202, 5000], [500, 5000]] as const) {
  let asked = 0, given = 0, ended = false;
  const flooded = new Holdfast({
    baseUrl: "https://service.example", site: "demo", credentials: { apiToken: "1|secret" }, attempts: 2, sleep: async () => {},
    ...(most === 5000 ? { maxAnswerBytes: most } : {}),
    fetch: async () => {
      asked++;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        given += 1 << 16;
        controller.enqueue(new Uint8Array(1 << 16).fill(32));
      };
      return new Response(new ReadableStream({ pull, cancel: () => void (ended = true) }), { status });
    },
  });
  const flood = await flooded.api.GET("/clock").catch((error: unknown) => error);
  if (status === 500) assert(flood instanceof HoldfastError && flood.status === 500 && asked === 2, String(flood));
  else assert(flood instanceof AnswerTooLargeError && flood.maxAnswerBytes === most && asked === 1, String(flood));
  assert(ended && given < 3 * (most + (1 << 18)), `${given} bytes were taken`);
}
console.log("all is well");
