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
  livenessPath: "/health" | "/";
  /** It keeps one model loaded, swaps on request and cannot tell which (contract: "No wrong model ever answers"). */
  swapsUnseen: boolean;
  /**
   * A catalogue from parsed JSON; `extra` is null when it was not to be had.
   * null: not what this engine answers.
   */
  parse(main: unknown, extra: unknown): CatalogReport | null;
  /** What loads a model that nobody waits for; null: only a request loads it, or it is always loaded. */
  load(model: string): EngineCall | null;
  /** What takes a model out of memory, one call after the other; empty: nothing does. */
  unload(model: CatalogModel): readonly EngineCall[];
  /** What an answer other than 2xx means. */
  meaning(answer: WorkerAnswer): AnswerMeaning;
}
