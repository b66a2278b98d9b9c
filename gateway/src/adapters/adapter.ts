import type { CatalogReport, EngineName } from "../catalog/types.ts";
import type { AnswerMeaning, WorkerAnswer } from "./meaning.ts";

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
  /** What an answer other than 2xx means. */
  meaning(answer: WorkerAnswer): AnswerMeaning;
}
