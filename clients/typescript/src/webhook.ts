/** How far the time of a webhook may be from now, in seconds. */
const tolerance = 5 * 60;

/**
 * Throws unless a webhook comes from the service: unless one of the secrets has signed the body that came with these headers,
 * at most five minutes before or after now. The form is that of Standard Webhooks; a secret begins with whsec_. While a secret
 * is being replaced, give both. body is the body as it came, byte by byte: parse it after this. A webhook may come twice: its
 * header webhook-id says so.
 */
export async function verifyWebhook(secrets: string[], headers: Headers, body: string, now: Date): Promise<void> {
  const id = headers.get("webhook-id");
  const stamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature");
  if (!id || !stamp || !signatures) throw new Error("a webhook needs the headers webhook-id, webhook-timestamp and webhook-signature");
  if (!/^\d+$/.test(stamp)) throw new Error("the header webhook-timestamp is no number of seconds");
  if (Math.abs(now.getTime() / 1000 - Number(stamp)) > tolerance) {
    throw new Error("the webhook was signed more than five minutes ago, or the clocks disagree");
  }
  const signed = new TextEncoder().encode(`${id}.${stamp}.${body}`);
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey("raw", bytes(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures.split(" ")) {
      const [version, value] = signature.split(",", 2);
      // subtle.verify takes the same time for each wrong signature.
      if (version === "v1" && value && (await crypto.subtle.verify("HMAC", key, bytes(value), signed))) return;
    }
  }
  throw new Error("no signature of the webhook fits a secret");
}

/** Reads base64. */
function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
