/**
 * Signs the fields of a payment for the payment modal, with the channel's secret: channels, currencies, total and those of the
 * modal's option verify. The string is good for fifteen minutes from `at`. Only a server may do this: the secret must never get
 * to a browser.
 */
export async function authString(secret: string, fields: Record<string, unknown>, at: Date): Promise<string> {
  if (secret === "") throw new TypeError("an auth string needs the secret of the channel");
  for (const name of ["channels", "currencies", "total"]) {
    if (fields[name] === undefined) throw new TypeError(`an auth string needs the field ${name}, which is missing`);
  }
  const stamp = at.toISOString().replace(/\D/g, "").slice(0, 14);
  const values = Object.keys(fields).sort().map((name) => text(name, fields[name]));
  return (await sha256((await sha256([...values, stamp].join("&"))) + secret)) + stamp;
}

/** Writes a value in the form that the service compares: lists as JSON. */
function text(name: string, value: unknown): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new TypeError(`the field ${name} must be a whole number; amounts are in minor units (cents)`);
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

async function sha256(text: string): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
