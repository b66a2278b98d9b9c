import { formatSize, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";
import { someNames } from "./some-names.ts";

interface Sized {
  name: string;
  path: readonly PropertyKey[];
  /** Bytes; 0: not said. */
  memory: number;
  pinned: boolean;
  ttl: number;
  /** The engine may know its size, where the file does not say it. */
  attached: boolean;
}

/** What can never be loaded within `memory.budget`, and what a budget must know. */
export function checkMemory(config: AgentShape, report: ReportProblem): void {
  const { budget } = config.memory;
  if (budget === 0) return;
  const models = sized(config);
  for (const { path, memory, attached } of models) {
    if (memory === 0 && !attached) report([...path, "memory"], "is needed: `memory.budget` must know what it takes");
    if (memory > budget) report([...path, "memory"], `is more than \`memory.budget\` (${formatSize(budget)})`);
  }
  const fitting = models.filter(({ memory }) => memory <= budget);
  const pinned = fitting.filter((model) => model.pinned);
  const taken = pinned.reduce((sum, { memory }) => sum + memory, 0);
  const names = someNames(pinned.map(({ name }) => name));
  if (taken > budget) {
    report(["memory", "budget"], `is less than what is pinned takes together (${names}: ${formatSize(taken)})`);
    return;
  }
  for (const { path, memory, pinned: isPinned } of fitting) {
    if (isPinned || taken + memory <= budget) continue;
    const left = `${formatSize(budget - taken)} of ${formatSize(budget)}`;
    report([...path, "memory"], `never fits: what is pinned (${names}) leaves ${left}`);
  }
}

/** A pinned model is never idle for good: it is not unloaded, whatever its `ttl`. */
export function checkPinned(config: AgentShape, report: ReportProblem): void {
  for (const { path, pinned, ttl } of sized(config)) {
    if (pinned && ttl > 0) report([...path, "ttl"], "does not go with `pinned: true`: leave one of them out");
  }
}

function sized({ models, engines }: AgentShape): Sized[] {
  const own = models.map(({ name, memory, pinned, ttl }, i) => {
    return { name, path: ["models", i], memory, pinned, ttl, attached: false };
  });
  const attached = engines.flatMap((engine, i) =>
    Object.entries(engine.models).map(([name, { memory, pinned, ttl }]) => {
      return { name, path: ["engines", i, "models", name], memory, pinned, ttl: ttl ?? 0, attached: true };
    }),
  );
  return [...own, ...attached];
}
