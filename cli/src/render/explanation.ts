import { z } from "zod";
import { CommandError } from "../exit-code.ts";
import { shownText } from "./shown-text.ts";
import { table } from "./table.ts";
import { variantSchema, variantWords } from "./variant.ts";
import { wrap } from "./wrap.ts";

const schema = z.object({
  model: shownText,
  decision: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("send"), worker: shownText }),
    z.object({ kind: z.literal("wait"), set: shownText }),
    z.object({ kind: z.literal("none"), code: shownText, message: shownText }),
  ]),
  /** Absent: a gateway of an older version. */
  weighed: z.object({ reason: shownText }).nullish(),
  /** Absent: nobody waits for a deadline there. */
  queue: z.object({ reason: shownText }).nullish(),
  ranked: z.array(
    z.object({
      worker: shownText,
      set: shownText,
      warmth: shownText,
      reason: shownText,
      inflight: z.number(),
      /** Only where the copies of the model differ. */
      variant: variantSchema.nullish(),
    }),
  ),
  out: z.array(z.object({ worker: shownText, reason: shownText })),
});
export type Explanation = z.infer<typeof schema>;

/** The gateway's answer to `/farm/explain`. Throws a CommandError for anything else. */
export function readExplanation(answer: unknown): Explanation {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new CommandError("the gateway's explanation cannot be read: is it of another version?");
}

/**
 * The ranked workers for a model, each with its reason, for a terminal of `width` columns. `asked` is the name that
 * was asked for, where it is an alias.
 */
export function renderExplanation(asked: string, explanation: Explanation, width: number): string {
  const { model, decision, weighed, queue, ranked, out } = explanation;
  const name = asked === model ? model : `${asked} (${model})`;
  const lines = wrap(headline(name, decision), width);
  if (weighed) lines.push(...wrap(`Weighed: ${weighed.reason}.`, width));
  if (queue) lines.push(...wrap(`Queue: ${queue.reason}.`, width));
  const [headings = "", ...places] = table(
    ["#", "WORKER", "SET", "WARMTH", "INFLIGHT"],
    ranked.map(({ worker, set, warmth, inflight }, i) => [String(i + 1), worker, set, warmth, String(inflight)]),
    width,
  );
  if (ranked.length > 0) lines.push("", headings);
  for (const [i, place] of places.entries()) {
    const { reason = "", variant } = ranked[i] ?? {};
    lines.push(place, ...indented(variant ? `${reason} (${variantWords(variant)})` : reason, width));
  }
  if (out.length > 0) lines.push("", "Out:");
  for (const { worker, reason } of out) lines.push(...wrap(`${worker}: ${reason}`, width));
  return `${lines.join("\n")}\n`;
}

function indented(text: string, width: number): string[] {
  return wrap(text, width - 3).map((line) => `   ${line}`);
}

function headline(model: string, decision: Explanation["decision"]): string {
  switch (decision.kind) {
    case "send":
      return `${model}: a request that came now would go to ${decision.worker}.`;
    case "wait":
      return `${model}: a request that came now would wait for a worker of the set "${decision.set}".`;
    case "none":
      return `${model}: a request that came now would be refused (${decision.code}): ${decision.message}`;
  }
}
