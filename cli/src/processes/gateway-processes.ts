import type { Worker } from "node:cluster";
import { randomBytes } from "node:crypto";
import { changeOf, type GatewayConfig, type Reloaded, RoomDesk } from "@farmgate/gateway";
import type { Log, TlsPair } from "@farmgate/wire";
import type { Io } from "../io.ts";
import { Doors } from "./doors.ts";
import { GatewayProcess } from "./gateway-process.ts";
import type { ToProcess } from "./messages.ts";
import { portTo } from "./worker-port.ts";

/** Where one of them cannot start, the others have so long to close, in milliseconds. */
const UNSTARTED_MS = 5_000;

export interface GatewayProcessesOptions {
  io: Io;
  log: Log;
  config: GatewayConfig;
  tls: TlsPair | null;
  /** Processes that serve. */
  count: number;
  /** None is left that serves, and none is started any more. */
  onAllGivenUp: () => void;
}

/**
 * A gateway that is several processes behind one door. This one is the primary: it hands out connections, keeps the room
 * in which the others count together, and serves nothing itself. It alone knows the configuration's file.
 */
export class GatewayProcesses {
  readonly #options: GatewayProcessesOptions;
  readonly #desk: RoomDesk;
  readonly #processes: readonly GatewayProcess[];
  /** What a process that is started now begins with. */
  #config: GatewayConfig;
  #tls: TlsPair | null;
  readonly #notListening: Set<number>;
  #givenUp = 0;
  #started: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  constructor(options: GatewayProcessesOptions) {
    const { io, log, count } = options;
    this.#options = options;
    this.#config = options.config;
    this.#tls = options.tls;
    // Those of later runs are greater, so that no order of theirs is taken for an older one.
    this.#desk = new RoomDesk(io.clock, io.clock.wall());
    const numbers = Array.from({ length: count }, (_, i) => i + 1);
    this.#notListening = new Set(numbers);
    const doors = new Doors();
    this.#processes = numbers.map((number) => {
      return new GatewayProcess(number, io, log, doors, {
        up: (worker) => this.#order(worker, number),
        listening: () => this.#listening(number),
        failed: (error) => this.#failed(error),
        givenUp: () => this.#gaveUp(number),
      });
    });
  }

  /** Resolves once all listen; rejects with what keeps one of them from it, after which none goes on. */
  async start(): Promise<void> {
    const all = new Promise<void>((resolve, reject) => {
      this.#started = resolve;
      this.#failed = reject;
    });
    for (const process of this.#processes) process.start();
    try {
      await all;
    } catch (error) {
      // Those that were up already close what they had opened.
      const stopTimer = this.#options.io.clock.after(UNSTARTED_MS, () => this.kill());
      await this.close();
      stopTimer();
      throw error;
    }
    this.#options.log.info({ processes: this.#processes.length }, "all processes of the gateway listen");
  }

  /** Applies a changed configuration in all of them; throws, with everything as it was, where it is refused. */
  reload(next: GatewayConfig): Reloaded {
    const { config, applied, restartNeeded } = changeOf(this.#config, next);
    this.#config = config;
    if (applied) this.#tellAll({ kind: "reload", config });
    return { applied, restartNeeded };
  }

  renew(pair: TlsPair): void {
    this.#tls = pair;
    this.#tellAll({ kind: "renew", pair });
  }

  /** All drain at once; resolves when all have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.end()));
  }

  /** Ends them without waiting for anything. */
  kill(): void {
    for (const process of this.#processes) process.kill();
  }

  #order(worker: Worker, number: number): void {
    const id = randomBytes(6).toString("hex");
    this.#desk.connect(id, portTo(worker));
    const order = { number, processes: this.#processes.length, id, config: this.#config, tls: this.#tls };
    const message: ToProcess = { kind: "start", ...order };
    worker.send(message);
  }

  #listening(number: number): void {
    this.#notListening.delete(number);
    if (this.#notListening.size === 0) this.#started();
  }

  #gaveUp(number: number): void {
    this.#givenUp += 1;
    this.#failed(new Error(`process ${number} of the gateway does not start`));
    if (this.#notListening.size === 0 && this.#givenUp === this.#processes.length) this.#options.onAllGivenUp();
  }

  #tellAll(message: ToProcess): void {
    for (const process of this.#processes) process.tell(message);
  }
}
