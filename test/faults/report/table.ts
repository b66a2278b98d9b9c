import type { Row } from "../round.ts";
import type { Verdict } from "../verdict.ts";

const HEADS = ["front", "fault", "phase", "sent", "whole", "told", "left", "lost", "wrong", "tries", "told as"];

/** One line for each round; `tries`: how often a request that reached a worker did, on average. */
export function table(rows: readonly Row[]): string {
  const lines = [...rows.map(cells), sums(rows)];
  const widths = HEADS.map((head, i) => Math.max(head.length, ...lines.map((line) => line[i]?.length ?? 0)));
  const text = (line: readonly string[]) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [text(HEADS), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...lines.map(text)].join("\n");
}

/** What is broken, a line for each kind of it; none: all invariants held. */
export function broken(rows: readonly Row[]): string[] {
  return rows.flatMap(({ front, fault, verdicts, unrest }) => {
    const whys = verdicts.flatMap((verdict) => ("why" in verdict ? [`${verdict.end}: ${verdict.why}`] : []));
    if (unrest !== null) whys.push(`no rest: ${unrest}`);
    return [...new Set(whys)].map((why) => `${front}, ${fault}: ${why}`);
  });
}

function cells(row: Row): string[] {
  const { front, fault, phase, verdicts, attempts, reached } = row;
  const tries = reached === 0 ? "-" : (attempts / reached).toFixed(2);
  return [front, fault, phase, ...counts(verdicts), tries, codes(verdicts)];
}

function sums(rows: readonly Row[]): string[] {
  const verdicts = rows.flatMap((row) => row.verdicts);
  return ["all", `${rows.length} rounds`, "", ...counts(verdicts), "", ""];
}

function counts(verdicts: readonly Verdict[]): string[] {
  const of = (end: Verdict["end"]) => String(verdicts.filter((verdict) => verdict.end === end).length);
  return [String(verdicts.length), of("whole"), of("told"), of("left"), of("lost"), of("wrong")];
}

function codes(verdicts: readonly Verdict[]): string {
  const told = new Map<string, number>();
  for (const verdict of verdicts) if (verdict.end === "told") told.set(verdict.code, 1 + (told.get(verdict.code) ?? 0));
  return [...told].map(([code, count]) => `${code} ${count}`).join(", ");
}
