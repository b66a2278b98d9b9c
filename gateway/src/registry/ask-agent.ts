import type { LookupFunction } from "node:net";
import { type Clock, parseJson, receivedCatalogSchema } from "@farmgate/shared";
import { createPollAgent, pollGet } from "@farmgate/wire";
import type { WorkerConfig } from "../catalog/types.ts";

export interface AskOptions {
  clock: Clock;
  timeoutMs: number;
  lookup: LookupFunction;
}

/**
 * Asks where a worker is said to be for its catalogue, by the key of `config`; null: without any. What keeps it from being
 * taken in; null: an agent of that name answers. Nothing else can be made to get requests by a registration.
 */
export async function askAgent(config: WorkerConfig, { clock, timeoutMs, lookup }: AskOptions): Promise<string | null> {
  const dispatcher = createPollAgent(config.ca ?? null, lookup);
  try {
    const answer = await pollGet(dispatcher, clock, config, "/catalog", timeoutMs, new AbortController().signal);
    if (answer.kind !== "answer") return answer.reason;
    if (answer.status !== 200) return `it answers ${answer.status}`;
    const catalog = receivedCatalogSchema.safeParse(parseJson(answer.body));
    if (!catalog.success) return "no agent answers there";
    return catalog.data.worker === config.name ? null : "an agent of another name answers there";
  } finally {
    void dispatcher.destroy();
  }
}
