import type { Clock } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import { pause } from "../swap/pause.ts";
import { endGroup } from "../swap/process-group.ts";
import { isAlive, type ProcessIdentity } from "../swap/process-identity.ts";
import type { Forget } from "../swap/running-note.ts";
import { endStrays } from "../swap/strays.ts";

/** Between two looks at an adopted process, in milliseconds. */
const LOOK_MS = 1_000;

export interface CommandProcess {
  pid: number;
  /** null: the system does not tell processes apart. */
  identity: ProcessIdentity | null;
  /** Marks it and all that it starts; empty: nothing does. */
  run: string;
  /** How it ended, in words that follow the program's name. */
  exited: Promise<string>;
  forget: Forget;
}

/** One model's command, from its start to the end of its process group. */
export class RunningCommand {
  readonly model: ServedModel;
  /** Started by an agent before this one. */
  readonly isAdopted: boolean;
  /** It was proved ready. */
  isResident = false;
  /** It is being ended by order, so that its end is no loss. */
  isUnwanted = false;
  readonly exited: Promise<string>;
  readonly #process: CommandProcess;
  readonly #clock: Clock;
  #ended: string | null = null;

  constructor(model: ServedModel, process: CommandProcess, isAdopted: boolean, clock: Clock) {
    this.model = model;
    this.isAdopted = isAdopted;
    this.#process = process;
    this.#clock = clock;
    this.exited = process.exited;
    void process.exited.then((how) => {
      this.#ended = how;
    });
  }

  /** How its process ended, in words that follow the program's name; null: it runs, as far as was told. */
  get ended(): string | null {
    return this.#ended;
  }

  /** Looks whether its process runs: the word of its end comes a little later than the end. */
  async runs(): Promise<boolean> {
    const { identity } = this.#process;
    const isThere = identity === null || (await isAlive(identity));
    return isThere && this.#ended === null;
  }

  /** Ends its whole group, also what is left of it after its own end or has left it. False: not all could be ended. */
  async end(): Promise<boolean> {
    const { pid, run, forget } = this.#process;
    const gone = await endRun(pid, run, this.#clock, this.model.stopGraceMs);
    if (gone) await forget();
    return gone;
  }
}

/** Ends a command's group, then its strays. False: some of them could not be ended. */
export async function endRun(leader: number, run: string, clock: Clock, graceMs: number): Promise<boolean> {
  const groupGone = await endGroup(leader, clock, graceMs);
  return (run === "" || (await endStrays(run, clock, graceMs))) && groupGone;
}

/** Resolves when a process that is nobody's child here has ended. */
export async function endOf(identity: ProcessIdentity, clock: Clock): Promise<string> {
  while (await isAlive(identity)) await pause(LOOK_MS, clock);
  return "ended (how is not known: an earlier agent had started it)";
}
