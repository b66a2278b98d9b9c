import { OPEN_BRACE } from "./json-bytes.ts";
import { isText } from "./json-text.ts";
import { ANSWERS_KEPT, type TurnsSpan } from "./scanned-body.ts";

/** Items of a Responses call that a model made, though they have no role. */
const MADE_BY_MODEL = ["reasoning", "function_call"];

/** Enough for every word that is looked for, six bytes a letter. */
const WORD_BYTES = 6 * 13 + 2;

/** Finds the earlier answers among the elements of an array of turns, by their own `role` or `type` alone. */
export class Turns {
  #start = -1;
  #end = -1;
  /** The element under way is an object. */
  #isObject = false;
  /** The key of its member under way, where that counts. */
  #key: "role" | "type" | null = null;
  /** What the last `role` and the last `type` of it say. */
  #byRole = false;
  #byType = false;
  #beforeAnswers: number[] = [];

  beginElement(first: number, at: number): void {
    if (this.#start < 0) this.#start = at;
    this.#isObject = first === OPEN_BRACE;
    this.#byRole = false;
    this.#byType = false;
  }

  endElement(at: number): void {
    if ((this.#byRole || this.#byType) && this.#end >= 0) this.#beforeAnswers.push(this.#end);
    this.#end = at;
    if (this.#beforeAnswers.length === 2 * ANSWERS_KEPT) this.#beforeAnswers = this.#beforeAnswers.slice(ANSWERS_KEPT);
  }

  /** A key of the element under way. */
  key(bytes: Buffer, start: number, end: number): void {
    if (isText(bytes, start, end, "role")) this.#key = "role";
    else this.#key = isText(bytes, start, end, "type") ? "type" : null;
  }

  /** Its value begins; answers how many bytes of it are needed. */
  beginMember(): number {
    return this.#isObject && this.#key !== null ? WORD_BYTES : 0;
  }

  /** Its value ended; the bytes are there if it is a string that was needed, and no longer than that. */
  endMember(bytes: Buffer, start: number, end: number): void {
    if (!this.#isObject) return;
    if (this.#key === "role") this.#byRole = isText(bytes, start, end, "assistant");
    if (this.#key === "type") this.#byType = MADE_BY_MODEL.some((type) => isText(bytes, start, end, type));
    this.#key = null;
  }

  span(): TurnsSpan | null {
    if (this.#start < 0) return null;
    return { start: this.#start, end: this.#end, beforeAnswers: this.#beforeAnswers.slice(-ANSWERS_KEPT) };
  }
}
