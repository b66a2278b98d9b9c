import type { CatalogModel, CatalogReport, EngineName } from "./catalog.ts";
import type { AnswerMeaning, WorkerAnswer } from "./meaning.ts";

/** One HTTP call by which an engine is told to load or unload. */
export interface EngineCall {
  path: string;
  /** Sent as a POST with JSON. */
  body: object;
  /** answer: done once it is answered 2xx. poll: only accepted then; the catalogue tells when it is done. */
  done: "answer" | "poll";
  /** Besides 2xx: an answer that means it was so already. */
  already?: { status: number; text: RegExp };
}

/** What a call to load or unload goes by: a model of the last catalogue. */
export type CommandTarget = Pick<CatalogModel, "id" | "kind" | "commands" | "instances">;

/** What Farmgate knows about one kind of engine. Pure: it names paths and reads answers, others do the asking. */
export interface Adapter {
  engine: EngineName;
  /** The GET that lists its models. */
  catalogPath: string;
  /** Asked instead when `catalogPath` is 404, for older releases. */
  olderCatalogPath: string | null;
  /** A second GET for residency or slots; without its answer the catalogue still counts. */
  extraPath: string | null;
  /** A cheap GET that tells whether anybody is there when the catalogue does not answer. */
  livenessPath: string;
  /** It keeps one model loaded, swaps on request and cannot tell which (contract: "No wrong model ever answers"). */
  swapsUnseen: boolean;
  /**
   * A request for a model that is not loaded loads it; `smallestRequest` is then what loads one that nobody waits for
   * where `load` gives no call, or where an older release answers that call with 404 or 405.
   */
  loadsOnRequest: boolean;
  /**
   * A request that it does not understand it answers by closing the connection, without a byte: such a break says
   * nothing about its health.
   */
  dropsBadRequests: boolean;
  /** It may answer by another model than the one that was asked for (`servedOther` tells). */
  mayServeOther: boolean;
  /** Of a model that is not loaded it tells the largest context that the model takes; loaded, it may have less. */
  tellsLargestContext: boolean;
  /** Requests at once for one model where neither the model nor its worker tells. */
  defaultSlots: number;
  /**
   * A catalogue from parsed JSON; `extra` is null when it was not to be had.
   * null: not what this engine answers.
   */
  parse(main: unknown, extra: unknown): CatalogReport | null;
  /** What loads a model that nobody waits for; null: only a request does (`loadsOnRequest`), or it is always loaded. */
  load(model: CommandTarget): EngineCall | null;
  /** What takes a model out of memory, one call after the other; empty: nothing does. */
  unload(model: CommandTarget): readonly EngineCall[];
  /** What an answer other than 2xx means. */
  meaning(answer: WorkerAnswer): AnswerMeaning;
}

/** What holds for most engines; each adapter says where it differs. */
export const PLAIN = {
  olderCatalogPath: null,
  extraPath: null,
  livenessPath: "/health",
  swapsUnseen: false,
  loadsOnRequest: false,
  dropsBadRequests: false,
  mayServeOther: false,
  tellsLargestContext: false,
  // What llama-server and LM Studio serve at once unless they are told otherwise; the engines that take more queue
  // without bound, so that too few costs a little speed and too many costs every caller its time to the first token.
  defaultSlots: 4,
  load: () => null,
  unload: () => [],
} satisfies Partial<Adapter>;
