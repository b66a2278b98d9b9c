import { parseJson, seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { wordTokens } from "./words.ts";

/** What a session of `/v1/realtime` begins with. */
export function sessionCreated(model: string): object {
  return { type: "session.created", session: { object: "realtime.session", model, simulated: true } };
}

/**
 * What a session answers to a text that its caller sends: `response.create` brings a few words, which depend on model
 * and event alone; every other event comes back inside of `echo`.
 */
export function repliesTo(text: string, model: string): object[] {
  const event = parseJson(text) as Body | undefined;
  if (typeof event !== "object" || event === null || event["type"] !== "response.create")
    return [{ type: "echo", text }];
  const digest = digestOf(model, text);
  const response = { object: "realtime.response", id: `resp_${digest.slice(0, 16)}` };
  const pieces = wordTokens(6, seededRandom(seedOf(digest)));
  return [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", response_id: response.id, delta })),
    { type: "response.done", response: { ...response, status: "completed", text: pieces.join("") } },
  ];
}
