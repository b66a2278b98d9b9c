// Asks a few paths every 100 ms, from a process that does nothing else, and tells how long each answer took.
// Arguments: the addresses.
import { ask } from "../../bench/targets/target.ts";

export interface ProbeReport {
  /** Milliseconds of each answer, by address. */
  ms: Record<string, number[]>;
  /** Answers other than 200, or none. */
  failures: Record<string, number>;
}

const EVERY_MS = 100;
const urls = process.argv.slice(2);
const report: ProbeReport = {
  ms: Object.fromEntries(urls.map((url) => [url, []])),
  failures: Object.fromEntries(urls.map((url) => [url, 0])),
};

async function look(url: string): Promise<void> {
  const { port, pathname } = new URL(url);
  const answer = await ask(Number(port), pathname).catch(() => null);
  if (answer?.status === 200) report.ms[url]?.push(answer.ms);
  else report.failures[url] = (report.failures[url] ?? 0) + 1;
}

process.on("message", () => {
  clearInterval(timer);
  process.send?.(report);
});
process.once("disconnect", () => process.exit(0));
const timer = setInterval(() => {
  for (const url of urls) void look(url);
}, EVERY_MS);
process.send?.("ready");
