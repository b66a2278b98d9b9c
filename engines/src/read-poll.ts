import { type GetAnswer, parseJson } from "@farmgate/shared";
import type { Adapter } from "./adapter.ts";
import type { PollResult } from "./catalog.ts";

/**
 * What a catalogue answer says of the worker, for an engine that is known.
 *
 * 1. Nothing listens, or no status line came.
 * 2. The key is not accepted.
 * 3. An engine with one model, whose weights are still loading (llama-server, whisper.cpp).
 * 4. Anything but a whole 2xx answer in the engine's own form is no catalogue; the worker is alive all the same.
 */
export function readPoll(adapter: Adapter, main: GetAnswer, extra: GetAnswer | null): PollResult {
  const { engine } = adapter;
  // 1
  if (main.kind === "silent") return { kind: main.refused ? "refused" : "dead", reason: main.reason };
  // 2
  if (main.status === 401 || main.status === 403) {
    return { kind: "unauthorized", engine, reason: `${adapter.catalogPath} answered ${main.status}: check its apiKey` };
  }
  const none = (reason: string): PollResult => ({ kind: "no_catalog", engine, reason });
  const { status } = main;
  if (main.kind === "broken") return none(`${adapter.catalogPath}: ${main.reason}`);
  // 3
  if (main.status === 503 && adapter.meaning(main) === "loading") return { kind: "loading", engine };
  // 4
  if (!isGood(main)) return none(`${adapter.catalogPath} answered ${status}`);
  const report = adapter.parse(parseJson(main.body), extraJson(extra));
  if (report === null) return none(`${adapter.catalogPath} answered something else than ${engine}'s list of models`);
  return { kind: "ok", engine, report };
}

/** Whether an answer is 2xx and whole. */
export function isGood(answer: GetAnswer): answer is GetAnswer & { kind: "answer" } {
  return answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
}

function extraJson(extra: GetAnswer | null): unknown {
  return extra !== null && isGood(extra) ? (parseJson(extra.body) ?? null) : null;
}
