// A bounded, mixed load: bursts for two models that must be swapped, streams, embeddings, a key at its limit, a typo,
// a model that is at a sick machine alone.
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../harness/ask.ts";
import { KEYS } from "./farm.ts";

/** Milliseconds between two rounds. */
const ROUND_MS = 2_000;

/** How many requests came to which status. */
export type Statuses = Map<number, number>;

/** Asks the gateways in turn for so many seconds; resolves when all is answered. */
export async function drive(gateways: readonly string[], seconds: number): Promise<Statuses> {
  const statuses: Statuses = new Map();
  const running: Promise<unknown>[] = [];
  const send = (path: string, body: object, key: string = KEYS.all) =>
    running.push(
      ask(`${gateways[running.length % gateways.length]}${path}`, body, { authorization: `Bearer ${key}` }).answer.then(
        ({ status }) => statuses.set(status, (statuses.get(status) ?? 0) + 1),
      ),
    );
  const chat = (model: string, tokens: number, stream: boolean, key?: string) => {
    const messages = [{ role: "user", content: "Tell me about farms." }];
    send("/v1/chat/completions", { model, messages, max_tokens: tokens, stream }, key);
  };
  const end = performance.now() + seconds * 1_000;
  for (let round = 0; performance.now() < end; round += 1) {
    for (let i = 0; i < 3; i += 1) chat(round % 2 === 0 ? "coder" : "writer", 20, i === 0);
    for (let i = 0; i < 4; i += 1) chat("small", 10 + 10 * i, i < 2);
    for (let i = 0; i < 3; i += 1) send("/v1/embeddings", { model: "vectors", input: "a farm" });
    chat("small", 3, false, KEYS.few);
    chat("rare", 3, false);
    if (round % 5 === 0) chat("no-such-model", 1, false);
    await sleep(ROUND_MS);
  }
  await Promise.all(running);
  return statuses;
}
