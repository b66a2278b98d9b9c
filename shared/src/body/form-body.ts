import { MAX_MODEL_NAME } from "../model-name.ts";
import { type FormVisitor, FormWalker } from "./form-walker.ts";
import { readPartHead } from "./part-head.ts";
import { type BodyScan, type BodyScanner, type ModelPlace, refused, type Span } from "./scanned-body.ts";

/** A character has four bytes at most. */
const MAX_VALUE_BYTES = 4 * MAX_MODEL_NAME;

const NO_BYTES = Buffer.alloc(0);

/**
 * Reads what routing needs of a `multipart/form-data` body: its fields `model` and `stream`, before or after its files.
 * Two of `model` are refused, since gateway and worker could each see another one; of `stream` the last counts.
 */
export class FormBody implements BodyScanner, FormVisitor {
  readonly #boundary: string;
  readonly #walker: FormWalker;
  /** The field whose value is read; null: the part under way is none of them. */
  #field: "model" | "stream" | null = null;
  #valueAt = 0;
  /** What of its value came in earlier chunks, and is needed. */
  #carried: Buffer = NO_BYTES;
  /** The chunk under way, and the bytes before it. */
  #bytes: Buffer = NO_BYTES;
  #offset = 0;
  #model: (Span & { name: string }) | null = null;
  #models = 0;
  #stream: boolean | null = null;

  /** `boundary`: as the content-type has it. */
  constructor(boundary: string) {
    this.#boundary = boundary;
    this.#walker = new FormWalker(boundary, this);
  }

  push(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#walker.push(bytes);
    if (this.#field !== null) this.#carried = this.#valueSoFar();
    this.#bytes = NO_BYTES;
    this.#offset += bytes.length;
  }

  get isRefused(): boolean {
    return this.#walker.problem !== null;
  }

  finish(): BodyScan {
    const problem = this.#walker.end();
    if (problem !== null) return refused(`the form cannot be read: ${problem}`, null);
    const { name } = this.#model ?? { name: null };
    if (this.#models > 1) return refused("the form has two parts `model`", "model");
    if (name === "") return refused("`model` must not be empty", "model");
    if (name !== null && name.length > MAX_MODEL_NAME) {
      return refused(`\`model\` must not be longer than ${MAX_MODEL_NAME} characters`, "model");
    }
    const modelPlace = this.#modelPlace();
    return { ok: true, model: name, modelPlace, stream: this.#stream, messages: null, input: null, system: null };
  }

  part(lines: string, at: number): string | null {
    const head = readPartHead(lines);
    if (typeof head === "string") return head;
    if (head.name !== "model" && head.name !== "stream") return null;
    if (!head.isPlain && head.name === "model") return "`model` has a Content-Transfer-Encoding: send it plain";
    this.#field = head.name;
    this.#valueAt = at;
    this.#carried = NO_BYTES;
    return null;
  }

  partEnd(at: number): void {
    if (this.#field === null) return;
    const value = this.#valueSoFar().toString("utf8", 0, at - this.#valueAt);
    if (this.#field === "stream") {
      this.#stream = asBoolean(value);
    } else {
      this.#models += 1;
      // Of a longer one, what was kept is too long as well.
      this.#model = { start: this.#valueAt, end: at, name: value };
    }
    this.#field = null;
    this.#carried = NO_BYTES;
  }

  /** Its first bytes: more than a value that is taken can have. */
  #valueSoFar(): Buffer {
    const left = MAX_VALUE_BYTES + 1 - this.#carried.length;
    if (left === 0) return this.#carried;
    const from = Math.max(0, this.#valueAt - this.#offset);
    return Buffer.concat([this.#carried, this.#bytes.subarray(from, from + left)]);
  }

  #modelPlace(): ModelPlace {
    if (this.#model !== null) {
      const { start, end } = this.#model;
      return { span: { start, end }, before: "", quoted: false, after: "" };
    }
    const at = this.#walker.firstAt ?? 0;
    const before = `--${this.#boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n`;
    return { span: { start: at, end: at }, before, quoted: false, after: "\r\n" };
  }
}

/** As people and libraries write it. */
function asBoolean(value: string): boolean | null {
  if (/^(true|1)$/i.test(value)) return true;
  return /^(false|0)$/i.test(value) ? false : null;
}
