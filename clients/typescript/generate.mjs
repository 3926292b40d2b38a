// generate.mjs DESCRIPTION: writes src/schema.ts, the types of the API, from its description. The client speaks for one site
// and knows where resources lie, so the types leave the site and that part of the addresses out.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import { parse } from "yaml";

const api = parse(readFileSync(process.argv[2], "utf8"), { maxAliasCount: -1 });
const resources = "/{site_path}/rest/svc/v2";
const kept = {};
for (const [path, methods] of Object.entries(api.paths)) {
  const address = path.startsWith(resources) ? path.slice(resources.length)
    : path.startsWith("/{site_path}/api-tokens") ? path.slice("/{site_path}".length) : "";
  // The rest is logins, which the client makes itself, the frame of the payment modal, and addresses about the service.
  if (address === "") continue;
  methods.parameters = (methods.parameters ?? []).filter((p) => !p.$ref?.endsWith("/SitePath"));
  for (const operation of Object.values(methods)) {
    // 202 says that a change waits for another person: the client throws then.
    if (operation.responses && Object.keys(operation.responses).some((s) => s === "200" || s === "201")) delete operation.responses["202"];
  }
  kept[address] = methods;
}
api.paths = kept;
writeFileSync(new URL("src/schema.ts", import.meta.url), astToString(await openapiTS(api, { alphabetize: false })));
