import type { ServerResponse } from "node:http";
import { type Clock, FarmError, type Random, seededRandom } from "@farmgate/shared";
import type { CallerSocket, Log } from "@farmgate/wire";
import { type FailForm, parseFail } from "../decide/fail.ts";
import { FailPlan } from "../decide/fail-plan.ts";
import type { EngineModel, EngineOptions } from "../decide/options.ts";
import { Desk } from "./desk.ts";
import type { EngineParts, SeenRequest } from "./engine-parts.ts";
import { Journal, type JournalCounts, type JournalEntry } from "./journal.ts";
import { Listener } from "./listener.ts";
import { answer, answerSocket } from "./routes.ts";
import { Visit } from "./visit.ts";

export interface EngineDeps {
  clock: Clock;
  /** Decides failures that fit a share of the requests; unset: a fixed sequence. */
  random?: Random;
  log?: Log;
  /** Told of every request once its body is complete. */
  onRequest?: (request: SeenRequest) => void;
}

export interface EngineStats extends JournalCounts {
  /** Requests in slots. */
  active: number;
  /** Requests that wait for a slot or for a load. */
  queued: number;
  /** The last things that happened, oldest first (at least the last 10,000). */
  log: readonly JournalEntry[];
}

/** A simulated engine that listens. */
export interface RunningEngine {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly options: EngineOptions;
  /** The numbers of this moment. */
  readonly stats: EngineStats;
  /** Names of the models that are loaded, in the order of the options. */
  loadedModels(): string[];
  /** Replaces the failures in force, from the next request or load on. Throws on a form that `parseFail` refuses. */
  setFail(forms: readonly (string | FailForm)[]): Promise<void>;
  /** Resolves when `holds` does, looking again after every change; rejects after `ceilingMs` (10 s). */
  waitFor(holds: (stats: EngineStats) => boolean, ceilingMs?: number): Promise<void>;
  /** Takes no new connection, lets running answers end for `graceMs` (0), then breaks what is left. */
  close(graceMs?: number): Promise<void>;
}

const PATIENCE_MS = 60_000;

/** Starts a simulated engine. Rejects when its port is taken. */
export async function startEngine(options: EngineOptions, deps: EngineDeps): Promise<RunningEngine> {
  const { clock, log } = deps;
  const random = deps.random ?? seededRandom(1);
  const journal = new Journal(clock);
  let fails = new FailPlan(options.fail, random);
  const desk = new Desk(options, clock, journal, (model) => {
    const failed = fails.forLoad(model);
    // A single-model llama-server that cannot load its model ends.
    if (failed && options.single) void listener.cut();
    return failed;
  });
  const parts: EngineParts = {
    options,
    clock,
    desk,
    journal,
    fails: () => fails,
    modelNamed: modelLookup(options),
    seen: (request) => deps.onRequest?.(request),
  };

  let arrived = 0;
  const visitOf = ({ request, response }: Pick<CallerSocket, "request" | "response">) => {
    arrived += 1;
    return new Visit(String(arrived), request, response, clock);
  };
  const listener = new Listener(
    options.listen.host,
    options.listen.port,
    (request, response) => receive(parts, visitOf({ request, response }), response, log),
    (caller) => answerSocket(parts, visitOf(caller), caller),
  );
  await listener.open();
  if (fails.refusesConnections) await listener.cut();
  if (options.single && options.models[0] !== undefined) desk.load(options.models[0].name);
  const url = `http://${hostInUrl(options.listen.host)}:${listener.port}`;
  log?.info({ url, models: options.models.map((model) => model.name) }, "simulated engine is ready");

  const stats = (): EngineStats => ({ ...journal.counts, ...desk.state.counts(), log: journal.entries });
  return {
    url,
    options,
    get port() {
      return listener.port;
    },
    get stats() {
      return stats();
    },
    loadedModels: () => desk.state.loaded(),
    async setFail(forms) {
      fails = new FailPlan(forms.map(asForm), random);
      if (fails.refusesConnections) await listener.cut();
      else await listener.open();
    },
    waitFor: (holds, ceilingMs = PATIENCE_MS) =>
      journal.waitFor(
        () => holds(stats()),
        ceilingMs,
        () => JSON.stringify({ ...stats(), log: journal.entries.slice(-10) }),
      ),
    async close(graceMs = 0) {
      const drained = listener.drain();
      const cancel = clock.after(graceMs, () => void listener.cut());
      await drained;
      cancel();
      desk.close();
    },
  };
}

function receive(parts: EngineParts, visit: Visit, response: ServerResponse, log?: Log): void {
  answer(parts, visit).catch((error: unknown) => {
    if (error instanceof FarmError && error.code === "client_closed") return;
    log?.error({ err: error, path: visit.path }, "a request could not be answered");
    response.destroy();
  });
}

function modelLookup(options: EngineOptions): (name: string) => EngineModel | undefined {
  if (options.single) return () => options.models[0];
  const byName = new Map<string, EngineModel>();
  for (const model of options.models) for (const name of [model.name, ...model.aliases]) byName.set(name, model);
  return (name) => byName.get(name);
}

function asForm(form: string | FailForm): FailForm {
  if (typeof form !== "string") return form;
  const parsed = parseFail(form);
  if ("problem" in parsed) throw new FarmError("invalid_request", parsed.problem);
  return parsed.form;
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
