import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccessKey, Clock } from "@farmgate/shared";
import { BodyRoom, KeyRing } from "@farmgate/wire";
import { DrainRate } from "../../src/admission/drain-rate.ts";
import { takeWorker } from "../../src/admission/take-worker.ts";
import { isTaken } from "../../src/admission/taken.ts";
import { WaitingRoom } from "../../src/admission/waiting-room.ts";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import type { Farm } from "../../src/farm.ts";
import { Call, type Received } from "../../src/proxy/call.ts";
import type { Strategy } from "../../src/routing/types.ts";
import { Turns } from "../../src/routing/turns.ts";
import { Inflight } from "../../src/state/inflight.ts";
import type { Hub } from "../../src/together/hub.ts";
import { ask, catalogOf } from "../routing/farm.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { testRoom } from "../together/room-hub.ts";

/** One request at one of the gateways. */
export interface Asked {
  call: Call;
  model: string;
  /** waiting, the worker's name, or how it ended. */
  state: string;
  /** What it was refused with. */
  error: { message: string; retryAfterS?: number } | null;
  reason: string;
  isAt: boolean;
  end(): void;
}

const KEY: AccessKey = { name: "bob", key: "", models: ["*"], maxConcurrent: 0, requestsPerMinute: 0, admin: false };

export interface MembersOptions {
  count: number;
  workers: readonly WorkerEntry[];
  strategy?: Strategy;
  limits?: Partial<AccessKey>;
  /** By default those of a room. */
  hubOf?: (clock: Clock, i: number) => Hub;
}

/** Gateways that act as one, as far as taking workers goes; without sockets, in time that the test moves on. */
export async function startMembers({ count, workers, strategy = "least-connections", limits, hubOf }: MembersOptions) {
  const clock = steppedClock();
  const room = testRoom(clock);
  const key = { ...KEY, ...limits };
  const farms = Array.from({ length: count }, (_, i) => {
    const hub = hubOf?.(clock, i) ?? room.hub(`g${i}`);
    const waitingRoom = new WaitingRoom();
    const inflight = new Inflight(hub);
    hub.onChange(() => {
      inflight.othersChanged();
      waitingRoom.wake();
    });
    return {
      clock,
      random: () => 0.5,
      config: {
        scheduling: "greedy",
        routing: { strategy, waitOrSwap: false },
        limits: { queueWait: 3_600_000, queue: 1_000, queueBytes: 1e9 },
      },
      hub,
      catalog: { current: catalogOf(workers) },
      inflight,
      turns: new Turns(),
      waitingRoom,
      deadlineQueue: { size: 0, inGroup: () => 0, wake: () => {} },
      metrics: { claimed: () => {} },
      keys: new KeyRing([key]),
      drainRate: new DrainRate(),
      draining: false,
    } as unknown as Farm;
  });
  /** Lets messages arrive, and time pass. */
  const settle = async (ms: number) => {
    for (let i = 0; i <= ms; i += 1) {
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      if (i < ms) clock.move(1);
    }
  };
  const started = Promise.all(farms.map((farm) => farm.hub.start(farm.inflight)));
  await settle(12);
  await started;
  const all: Asked[] = [];
  const request = (member: number, model = "m", hasKey = false) => {
    const farm = farms[member % count] as Farm;
    const share = new BodyRoom().share();
    const start = { id: String(all.length), api: "chat", family: "openai", cors: [], arrivedAt: 0, since: 0 } as const;
    const call = new Call({ ...start, request: {} as IncomingMessage, response: {} as ServerResponse, share });
    if (hasKey) call.caller = { name: key.name, key };
    const asked: Asked = { call, model, state: "waiting", error: null, reason: "", isAt: false, end: () => {} };
    all.push(asked);
    const received = { body: { length: 0 }, deadlineAt: null } as unknown as Received;
    const over = (state: string) => {
      if (asked.isAt || asked.state === "waiting") call.leaveKey?.();
      asked.isAt = false;
      asked.state = state;
    };
    asked.end = () => call.leave();
    void (async () => {
      const taken = await takeWorker(farm, call, received, ask(model), new Set());
      if (!isTaken(taken)) return over(taken.code);
      asked.state = taken.choice.worker.config.name;
      asked.reason = taken.choice.reason;
      asked.isAt = true;
      asked.end = () => {
        asked.end = () => {};
        taken.release();
        over("answered");
      };
    })().catch((error: { code?: string; message: string }) => {
      asked.error = error;
      over(error.code ?? String(error));
    });
    return asked;
  };
  const at = (worker: string) => all.filter(({ state, isAt }) => isAt && state === worker).length;
  return { clock, room, farms, all, request, settle, at };
}
