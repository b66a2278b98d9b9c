import type { Log } from "@farmgate/wire";
import type { Io } from "../io.ts";
import { awaitReady } from "./await-ready.ts";
import { longestStopMs, type ProcessPlan } from "./process-plan.ts";
import { SupervisedProcess } from "./supervised-process.ts";

/** A program that has not answered for this long does not come up, in milliseconds. */
const READY_MS = 30_000;

/** A program that did not come up. */
export interface Trouble {
  plan: ProcessPlan;
  reason: string;
}

/** The processes of one farm, started and stopped in the order that keeps requests whole. */
export class FarmProcesses {
  readonly #members: readonly SupervisedProcess[];
  readonly #io: Io;
  #stopping = false;

  /** `onGatewayLost` is called when the gateway ended and is not started again: without it there is no farm. */
  constructor(plans: readonly ProcessPlan[], io: Io, log: Log, onGatewayLost: (reason: string) => void) {
    this.#io = io;
    this.#members = plans.map((plan) => {
      const member: SupervisedProcess = new SupervisedProcess(plan, io, log, () => {
        if (plan.role === "gateway") onGatewayLost(`the gateway is lost: ${member.givenUp}`);
      });
      return member;
    });
  }

  /** Starts engines, then agents, then the gateway. Resolves with those that did not come up, and why. */
  async start(): Promise<Trouble[]> {
    const troubles: Trouble[] = [];
    for (const role of ["engine", "agent", "gateway"] as const) {
      if (this.#stopping) return troubles;
      const stage = this.#of(role);
      for (const member of stage) member.start();
      const reasons = await Promise.all(stage.map((member) => awaitReady(member, READY_MS, this.#io.clock)));
      for (const [i, member] of stage.entries()) {
        const reason = reasons[i] ?? null;
        if (reason !== null) troubles.push({ plan: member.plan, reason });
      }
    }
    return troubles;
  }

  /** The gateway drains first, since it alone knows its callers; then the agents, whose engines go last. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const member of this.#members) member.letEnd();
    for (const role of ["gateway", "agent", "engine"] as const) {
      await Promise.all(this.#of(role).map((member) => member.stop()));
    }
  }

  /** The gateway has another `drain` by now; in milliseconds. */
  gatewayDrains(ms: number): void {
    for (const member of this.#of("gateway")) member.drainMs = ms;
  }

  /** The longest that `stop` may take, in milliseconds. */
  get longestStopMs(): number {
    return longestStopMs(this.#members.map(({ plan, drainMs }) => ({ ...plan, drainMs })));
  }

  kill(): void {
    for (const member of this.#members) member.kill();
  }

  #of(role: ProcessPlan["role"]): SupervisedProcess[] {
    return this.#members.filter((member) => member.plan.role === role);
  }
}
