import { formatDuration } from "@farmgate/shared";
import { z } from "zod";
import { CommandError } from "../exit-code.ts";
import { shownText } from "./shown-text.ts";
import { table } from "./table.ts";

const prediction = z.object({ mean: z.number(), deviation: z.number() });
const modelSchema = z.object({
  id: shownText,
  pool: shownText,
  replicas: z.number(),
  starting: z.number(),
  fixed: z.number(),
  requests_per_second: z.number(),
  heat: z.number(),
  on_time: z.object({ share: z.number(), requests: z.number() }).nullable(),
  expected: z
    .object({ on_time: prediction.nullable(), memory: prediction, compute: prediction, bandwidth: prediction })
    .nullable(),
  wrong: z.boolean(),
});
const actionSchema = z.object({
  kind: shownText,
  model: shownText,
  workers: z.array(shownText),
  reason: shownText,
  not: shownText.nullable(),
});
const onSchema = z.object({
  mode: z.enum(["advise", "auto"]),
  trouble: shownText.nullable(),
  target_ms: z.number(),
  share: z.number(),
  models: z.array(modelSchema),
  plan: z.object({ age_ms: z.number(), actions: z.array(actionSchema) }).nullable(),
  reasons: z.array(shownText),
  done: z.array(
    z.object({
      age_ms: z.number(),
      kind: shownText,
      worker: shownText,
      model: shownText,
      failed: shownText.nullable(),
    }),
  ),
  failing: z.array(
    z.object({
      kind: shownText,
      worker: shownText,
      model: shownText,
      reason: shownText.nullable(),
      retry_in_ms: z.number(),
    }),
  ),
  left_alone: z.array(z.object({ worker: shownText, reason: shownText })),
});
const placementSchema = z
  .object({ placement: z.union([z.object({ mode: z.literal("off") }), onSchema]) })
  .transform(({ placement }) => placement);

/** What a gateway tells of its placement. */
export type PlacementAnswer = z.output<typeof placementSchema>;
type Placement = z.output<typeof onSchema>;

/** The gateway's answer to `/farm/placement`. Throws a CommandError for others. */
export function readPlacement(answer: unknown): PlacementAnswer {
  const parsed = placementSchema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new CommandError("the gateway's placement cannot be read: is it of another version?");
}

/** The whole of it as text, for a terminal of `width` columns. */
export function renderPlacement(url: string, placement: PlacementAnswer, width: number): string {
  if (placement.mode === "off") return `Farmgate at ${url}: placement is off\n`;
  const aim = `${percent(placement.share)} within ${formatDuration(placement.target_ms)}`;
  const lines = [`Farmgate at ${url}: placement is ${modeWords(placement.mode)}, for ${aim}`];
  if (placement.trouble !== null) lines.push(`! it rests, the farm goes on without it: ${placement.trouble}`);
  if (placement.models.length > 0) lines.push("", ...modelLines(placement.models, width));
  lines.push(...planLines(placement), ...doneLines(placement));
  return `${lines.join("\n")}\n`;
}

function modeWords(mode: "advise" | "auto"): string {
  return mode === "auto" ? "on (auto)" : "giving advice only (advise)";
}

function modelLines(models: Placement["models"], width: number): string[] {
  const rows = models.map((model) => [
    model.id,
    model.pool,
    copies(model),
    String(model.requests_per_second),
    String(model.heat),
    model.on_time === null ? "-" : percent(model.on_time.share),
    model.wrong ? "wrong" : within(model.expected?.on_time ?? null, percent),
    within(model.expected?.compute ?? null, String),
    within(model.expected?.bandwidth ?? null, String),
  ]);
  const headings = ["MODEL", "POOL", "COPIES", "REQ/S", "TOKENS/S", "ON TIME", "EXPECTED", "COMPUTE", "BANDWIDTH"];
  return table(headings, rows, width);
}

function copies({ replicas, starting, fixed }: Placement["models"][number]): string {
  const more = [...(starting > 0 ? [`${starting} starting`] : []), ...(fixed > 0 ? [`${fixed} fixed`] : [])];
  return [String(replicas), ...more].join(", ");
}

function within(value: z.output<typeof prediction> | null, show: (value: number) => string): string {
  return value === null ? "-" : `${show(value.mean)} ± ${show(value.deviation)}`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

function planLines({ mode, plan, reasons }: Placement): string[] {
  if (plan === null)
    return reasons.length === 0 ? [] : ["", "Nothing to do:", ...reasons.map((reason) => `  ${reason}`)];
  const actions = plan.actions.map(({ kind, model, workers, reason, not }) => {
    const what = `${kind} ${model}${workers.length === 0 ? "" : ` (${workers.join(" to ")})`}: ${reason}`;
    return not === null ? `  ${what}` : `  ${what}; not now: ${not}`;
  });
  const would = mode === "advise" ? "Would do" : "Last plan";
  return ["", `${would}, ${formatDuration(plan.age_ms)} ago:`, ...actions];
}

function doneLines({ done, failing, left_alone }: Placement): string[] {
  const deeds = done.map(
    ({ age_ms, kind, worker, model, failed }) =>
      `  ${formatDuration(age_ms)} ago: ${kind} ${model} on ${worker}${failed === null ? "" : `, failed: ${failed}`}`,
  );
  return [
    ...(deeds.length === 0 ? [] : ["", "Done:", ...deeds]),
    ...failing.map(
      ({ kind, worker, model, reason, retry_in_ms }) =>
        `! ${worker} did not ${kind} ${model} (${reason ?? "no reason told"}), again in ${formatDuration(retry_in_ms)}`,
    ),
    ...left_alone.map(({ worker, reason }) => `! ${worker} is left alone: it ${reason}`),
  ];
}
