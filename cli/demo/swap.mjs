#!/usr/bin/env node
// The swap script of the demo farm: makes MODEL the loaded model of the simulated engine at FARMGATE_URL.
//   FARMGATE_URL=http://127.0.0.1:9101 ./swap.mjs MODEL
// A real one would stop and start services instead; see deploy/swap for those. It is idempotent, as every swap
// script must be: asked for a model that is loaded, it changes nothing.

const model = process.argv[2];
const engine = process.env.FARMGATE_URL;
if (!model || !engine) {
  console.error("usage: FARMGATE_URL=http://HOST:PORT swap.mjs MODEL");
  process.exit(2);
}

const { data } = await ask("GET", "/v1/models");
for (const other of data) {
  if (other.id !== model && other.status?.value === "loaded") await ask("POST", "/models/unload", { model: other.id });
}
const state = data.find((entry) => entry.id === model)?.status?.value;
if (state !== "loaded" && state !== "loading") await ask("POST", "/models/load", { model });
console.log(`${engine}: ${model} was ${state ?? "unknown"}`);

async function ask(method, path, body) {
  const response = await fetch(engine + path, {
    method,
    headers: { "content-type": "application/json" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
