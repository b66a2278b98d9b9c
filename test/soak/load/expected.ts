// The answers that the simulated engines give, which depend on the request alone. Pure.
import { planAnswer, planEmbeddings } from "@farmgate/simulator";

const CONTEXT = 1_000_000;
/** Events of a flood, and letters in each: more than the buffers between two sockets hold. */
const FLOOD_EVENTS = 512;
const FLOOD_LETTERS = 16_384;

const modelOf = (name: string, kind: "chat" | "embedding") => ({
  name,
  kind,
  aliases: [],
  load: 0,
  loaded: true,
  contextLength: CONTEXT,
  memory: 0,
});

/** The pieces in which `model` answers one question. */
export function piecesOf(model: string, prompt: string, length: number): readonly string[] {
  const body = { messages: [{ role: "user", content: prompt }], max_tokens: length };
  const plan = planAnswer("chat", body, modelOf(model, "chat"));
  return "pieces" in plan ? plan.pieces : [];
}

export function textOf(model: string, prompt: string, length: number): string {
  return piecesOf(model, prompt, length).join("");
}

/** The vector for a text, as JSON; eight numbers. */
export function vectorOf(model: string, input: string): string {
  const plan = planEmbeddings({ input, dimensions: 8 }, modelOf(model, "embedding"));
  if (!("body" in plan)) return "";
  const { data } = JSON.parse(plan.body) as { data: { embedding: number[] }[] };
  return JSON.stringify(data[0]?.embedding);
}

/** A long answer: each piece says which request it answers, and its own place. */
export function* floodPieces(nonce: string): Generator<string> {
  for (let i = 0; i < FLOOD_EVENTS; i += 1) yield `${nonce} ${i} `.padEnd(FLOOD_LETTERS, "~");
}
