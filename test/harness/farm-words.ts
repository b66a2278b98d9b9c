import { getJson } from "./ask.ts";
import { type FarmgateProcess, runFarmgate } from "./farmgate-process.ts";

/** One entry of `/farm/models`. */
export interface FarmModel {
  id: string;
  warm: string[];
  states: { worker: string; state: string }[];
  warm_copies: number;
  keep_warm: number | null;
  note: string | null;
}

export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}

export async function farmModel(gateway: string, model: string): Promise<FarmModel | undefined> {
  const { models } = await getJson<{ models: FarmModel[] }>(`${gateway}/farm/models`);
  return models.find(({ id }) => id === model);
}

/** What is read of `/farm/explain`. */
export interface Explained {
  decision: { worker: string };
  weighed: { decision: string; waitMs: number; swapMs: number; worker: string; reason: string } | null;
  ranked: { worker: string; reason: string }[];
}

export async function explained(gateway: string, model: string): Promise<Explained> {
  const answer = await fetch(`${gateway}/farm/explain`, { method: "POST", body: JSON.stringify({ model }) });
  return (await answer.json()) as Explained;
}

/** What `farmgate COMMAND ... --gateway URL` prints. */
export async function farmgateSays(gateway: string, ...command: string[]): Promise<string> {
  const program = runFarmgate([...command, "--gateway", gateway], { env: { npm_lifecycle_event: undefined } });
  const code = await program.ended;
  if (code !== 0) throw new Error(`farmgate ${command.join(" ")} ended with ${code}:\n${program.output()}`);
  return program.stdout();
}

/** The value of a metric with these labels, as they are written; null: there is none. */
export async function metric(url: string, nameAndLabels: string): Promise<number | null> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${nameAndLabels} `));
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(" ")));
}

/** A program's log so far, or the lines of it that hold `text` in their message. */
export function logOf(program: FarmgateProcess, text: string = ""): LogLine[] {
  const lines = program.output().split("\n");
  const parsed = lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));
  return parsed.filter(({ msg }) => msg.includes(text));
}
