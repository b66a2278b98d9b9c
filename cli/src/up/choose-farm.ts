import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FoundEngine, findEngines } from "./found-engines.ts";

const DEFAULT_FILE = "farmgate.yaml";

/** Which farm `up` starts, and how it came to it. */
export interface ChosenFarm {
  file: string;
  origin: "named" | "found-file" | "found-engines" | "demo";
  engines: readonly FoundEngine[];
  /** Removes what was written for this run. */
  tidy(): Promise<void>;
}

export interface FarmWish {
  config: string | null;
  demo: boolean;
  /** Where the demo farm is. */
  demoFile: string;
}

/**
 * 1. `--demo`: the demo farm. 2. `--config FILE`: that file. 3. `./farmgate.yaml`, where there is one.
 * 4. The engines that answer on this machine's usual ports. 5. The demo farm.
 */
export async function chooseFarm(wish: FarmWish): Promise<ChosenFarm> {
  const plain = { engines: [], tidy: async () => undefined };
  // (1)
  if (wish.demo) return { ...plain, file: wish.demoFile, origin: "demo" };
  // (2)
  if (wish.config !== null) return { ...plain, file: wish.config, origin: "named" };
  // (3)
  if (await exists(DEFAULT_FILE)) return { ...plain, file: DEFAULT_FILE, origin: "found-file" };
  // (4)
  const engines = await findEngines();
  if (engines.length > 0) return { ...(await writeFarm(engines)), origin: "found-engines", engines };
  // (5)
  return { ...plain, file: wish.demoFile, origin: "demo" };
}

/** The found engines as a gateway file, so that the gateway runs as it would from a file of the user's own. */
async function writeFarm(engines: readonly FoundEngine[]): Promise<Pick<ChosenFarm, "file" | "tidy">> {
  const folder = await mkdtemp(join(tmpdir(), "farmgate-"));
  const file = join(folder, DEFAULT_FILE);
  await writeFile(file, foundFarmText(engines));
  return { file, tidy: () => rm(folder, { recursive: true, force: true }) };
}

/** A gateway file with the found engines as its workers. */
export function foundFarmText(engines: readonly FoundEngine[]): string {
  return `workers:\n${engines.map(({ name, url }) => `  - { name: ${name}, url: "${url}" }\n`).join("")}`;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
