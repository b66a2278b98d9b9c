import type { GetAnswer } from "@farmgate/shared";
import type { Adapter } from "./adapter.ts";
import { adapterFor } from "./adapter-for.ts";
import { nextProbe, type ProbeAnswer, probeAnswer } from "./detect.ts";
import type { EngineName, PollResult } from "./catalog.ts";
import { isGood, readPoll } from "./read-poll.ts";

/** One bounded GET of this worker. */
export type Get = (path: string) => Promise<GetAnswer>;

/** Probes of a detection are read up to this size, in characters. */
const MAX_PROBE = 1_000_000;
/** Polls until a worker that nothing recognised is asked again what it is. */
const POLLS_UNRECOGNISED = 12;

/** Polls of one worker, one after the other; remembers which engine it found there. */
export class EnginePoll {
  readonly #engine: EngineName | "auto";
  readonly #get: Get;
  /** Found by detection, or what it counts as until something gives itself away. */
  #detected: EngineName | null = null;
  #detectAgain = true;
  #pollsUnrecognised = 0;

  constructor(engine: EngineName | "auto", get: Get) {
    this.#engine = engine;
    this.#get = get;
  }

  /** One health check that is also a refresh of the catalogue (contract: "Polls"). */
  async run(): Promise<PollResult> {
    const result = this.#engine === "auto" ? await this.#auto() : await this.#poll(adapterFor(this.#engine));
    this.#detectAgain = this.#mayBeAnother(result);
    return result;
  }

  /** Another engine may stand there after a restart, or one may have been mistaken for another. */
  #mayBeAnother(result: PollResult): boolean {
    if (result.kind === "dead" || result.kind === "refused") return true;
    if (result.kind !== "no_catalog") return false;
    this.#pollsUnrecognised -= 1;
    return this.#pollsUnrecognised < 0;
  }

  async #auto(): Promise<PollResult> {
    if (this.#detectAgain || this.#detected === null) {
      const missed = await this.#detect();
      if (missed !== null) return missed;
    }
    return this.#poll(adapterFor(this.#detected ?? "openai"));
  }

  /** null: an engine to poll is known, if only as a generic one. */
  async #detect(): Promise<PollResult | null> {
    const answers: ProbeAnswer[] = [];
    for (;;) {
      const step = nextProbe(answers);
      if (step.kind === "found") {
        this.#pollsUnrecognised = 0;
        this.#detected = step.engine;
        return null;
      }
      if (step.kind === "unrecognised") {
        this.#pollsUnrecognised = POLLS_UNRECOGNISED;
        this.#detected ??= step.unauthorized ? null : "openai";
        if (this.#detected !== null) return null;
        return { kind: "unauthorized", engine: null, reason: "its catalogue asks for a key: check its apiKey" };
      }
      const answer = await this.#get(step.path);
      if (answer.kind === "silent" && answers.length === 0) return this.#silent(answer, this.#livenessPath());
      answers.push(toProbe(step.path, answer));
    }
  }

  async #poll(adapter: Adapter): Promise<PollResult> {
    let main = await this.#get(adapter.catalogPath);
    if (main.kind === "silent") return this.#silent(main, adapter.livenessPath, adapter.engine);
    if (main.status === 404 && adapter.olderCatalogPath !== null) main = await this.#get(adapter.olderCatalogPath);
    const extra = adapter.extraPath !== null && isGood(main) ? await this.#get(adapter.extraPath) : null;
    return readPoll(adapter, main, extra);
  }

  /** No status line: one more GET tells a slow catalogue from a dead worker. */
  async #silent(
    silence: GetAnswer & { kind: "silent" },
    livenessPath: string,
    engine: EngineName | null = this.#detected,
  ): Promise<PollResult> {
    const { reason } = silence;
    if (silence.refused) return { kind: "refused", reason };
    const liveness = await this.#get(livenessPath);
    if (liveness.kind !== "silent") return { kind: "no_catalog", engine, reason: `its catalogue: ${reason}` };
    return { kind: liveness.refused ? "refused" : "dead", reason };
  }

  #livenessPath(): string {
    return this.#detected === null ? "/" : adapterFor(this.#detected).livenessPath;
  }
}

function toProbe(path: string, answer: GetAnswer): ProbeAnswer {
  if (answer.kind !== "answer") return probeAnswer(path, answer.kind === "broken" ? answer.status : 0, "", "");
  return probeAnswer(path, answer.status, answer.server, answer.body.length > MAX_PROBE ? "" : answer.body);
}
