import { isHashedKey } from "@farmgate/shared";
import { createLog } from "@farmgate/wire";
import { namesIn } from "../config/certificates.ts";
import { shownCertificates } from "../config/certificate-files.ts";
import { urlOf } from "../config/derived-workers.ts";
import type { Farm } from "../config/farm-schema.ts";
import { openConfig } from "../config/open-config.ts";
import { CommandError, usageError } from "../exit-code.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { fileState, reloadOnChange } from "../reload-on-change.ts";
import { selfCommand } from "../self-command.ts";
import { type ChosenFarm, chooseFarm } from "../up/choose-farm.ts";
import { exampleModel } from "../up/example-model.ts";
import { FarmProcesses, type Trouble } from "../up/farm-processes.ts";
import { farmOf } from "../up/open-farm.ts";
import { type ProcessPlan, processPlans } from "../up/process-plan.ts";
import { takenPorts } from "../up/taken-ports.ts";
import { welcome } from "../up/welcome.ts";

export interface UpOptions {
  config?: string;
  demo?: boolean;
  port?: number;
}

export async function up(options: UpOptions, io: Io): Promise<void> {
  if (options.demo === true && options.config !== undefined) throw usageError("--demo and --config exclude each other");
  const port = options.port ?? null;
  const { config = null, demo = false } = options;
  const chosen = await chooseFarm({ config, demo, demoFile: io.demoFile });
  try {
    const known = fileState(chosen.file);
    const read = async () => {
      const opened = await openConfig(chosen.file, io.env);
      const farm = farmOf(opened, port);
      const shown = await shownCertificates(opened, farm, io.clock.wall());
      return { farm, plans: processPlans(farm, chosen.file, port, shown) };
    };
    const { farm, plans } = await read();
    const taken = await takenPorts(plans, chosen.origin === "found-engines" ? null : chosen.file);
    if (taken.length > 0) throw new CommandError(taken.join("\n"));
    await run({ farm, plans, chosen, known, read }, io);
  } finally {
    await chosen.tidy();
  }
}

interface Run {
  farm: Farm;
  plans: readonly ProcessPlan[];
  chosen: ChosenFarm;
  /** The file's state from before it was read. */
  known: string;
  read: () => Promise<Pick<Run, "farm" | "plans">>;
}

/** Never resolves: the process ends with the farm. */
async function run({ farm, plans, chosen, known, read }: Run, io: Io): Promise<void> {
  const log = createLog("up");
  const processes: FarmProcesses = new FarmProcesses(plans, io, log, (reason) => end.fail(reason));
  const watching = reloadOnChange({
    file: chosen.file,
    known,
    // What is wrong with it the programs say themselves.
    read: () => read().catch(() => null),
    reload(next) {
      if (next === null) return { applied: true, restartNeeded: [] };
      processes.gatewayDrains(next.farm.gateway.drain);
      return { applied: true, restartNeeded: otherPrograms(plans, next.plans) };
    },
    clock: io.clock,
    log,
  });
  const close = async () => {
    watching.stop();
    await processes.stop();
    await chosen.tidy();
  };
  const endHard = () => processes.kill();
  const onHangUp = () => log.info("SIGHUP: each program applies a changed file by itself, or says that it cannot");
  const end = graceful({ io, log, drainMs: () => processes.longestStopMs, close, onHangUp, endHard });
  const troubles = await processes.start();
  const lost = troubles.find((trouble) => trouble.plan.role === "gateway");
  if (lost === undefined) io.stdout.write(await greeting(farm, chosen, troubles, plans.at(-1)?.shows ?? null, io));
  else end.fail(`the gateway is not up: ${lost.reason}`);
  await end.ended;
}

/** The programs that one of the two has and the other has not. */
function otherPrograms(before: readonly ProcessPlan[], after: readonly ProcessPlan[]): string[] {
  const titles = (plans: readonly ProcessPlan[]) => new Set(plans.map(({ title }) => title));
  const [were, are] = [titles(before), titles(after)];
  return [...were, ...are].filter((title) => !were.has(title) || !are.has(title));
}

async function greeting(
  farm: Farm,
  chosen: ChosenFarm,
  troubles: readonly Trouble[],
  shows: string | null,
  io: Io,
): Promise<string> {
  const { listen, keys, tls } = farm.gateway;
  const url = urlOf(listen, tls !== null);
  const own = keys.find((entry) => entry.models.includes("*") && !isHashedKey(entry.key));
  const model = await exampleModel(url, own?.key ?? null, shows);
  const { origin, file, engines } = chosen;
  return welcome({
    url,
    origin,
    file,
    engines,
    model,
    keyNeeded: keys.length > 0,
    certificateNames: shows === null ? null : namesIn(shows),
    troubles,
    command: selfCommand(io.env),
  });
}
