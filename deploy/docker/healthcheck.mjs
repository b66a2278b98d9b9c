// Ends with 0 when the program in this container answers: `node healthcheck.mjs [URL]`. The slim image has no curl.
const url = process.argv[2] ?? process.env.FARMGATE_HEALTH_URL ?? "http://127.0.0.1:8400/livez";
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch((error) => error);
if (!answer.ok) console.error(`${url}: ${answer.status ?? answer.cause?.message ?? answer.message}`);
process.exitCode = answer.ok ? 0 : 1;
