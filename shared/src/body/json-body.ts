import { MAX_MODEL_NAME } from "../model-name.ts";
import { OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { isText, readText } from "./json-text.ts";
import type { JsonVisitor } from "./json-visitor.ts";
import { JsonWalker } from "./json-walker.ts";
import { type BodyScan, type BodyScanner, type ModelPlace, refused, type Span } from "./scanned-body.ts";
import { Turns } from "./turns.ts";

/** Six bytes a character at most, and two quotes. */
const MODEL_BYTES = 6 * MAX_MODEL_NAME + 2;

/** A member of the outermost object that counts. */
type Field = (typeof FIELDS)[number];
const FIELDS = ["model", "stream", "messages", "input", "system", "instructions"] as const;

const TRUE = 0x74;
const FALSE = 0x66;

interface NamedModel extends Span {
  isString: boolean;
  /** null: too long. */
  name: string | null;
}

/**
 * Reads what routing needs of a JSON body, in one validating pass that builds no values: megabytes of base64 cost
 * little more than the reading of them. Only keys of the outermost object count, wherever they stand and however
 * they are escaped. Of a repeated key the last counts, as with JSON.parse; two `model` keys are refused, since
 * gateway and worker could each see another one.
 */
export class JsonBody implements BodyScanner, JsonVisitor {
  readonly #walker = new JsonWalker(this);
  #field: Field | null = null;
  #model: NamedModel | null = null;
  /** Where the value of another `model` key begins. */
  #secondModelAt: number | null = null;
  /** Where the first member begins or would begin, */
  #firstAt = 0;
  /** and whether there is one. */
  #hasMembers = false;
  #stream: boolean | null = null;
  /** Of the array under way; null: none that counts. */
  #turns: Turns | null = null;
  /** Its elements and their members count as well. */
  maxDepth = 1;
  #messages: Turns | null = null;
  #input: Turns | null = null;
  #system: Span | null = null;

  push(bytes: Buffer): void {
    this.#walker.push(bytes);
  }

  get isRefused(): boolean {
    return this.#walker.problem !== null;
  }

  finish(): BodyScan {
    const { hasBegun } = this.#walker;
    const problem = this.#walker.end();
    if (!hasBegun && problem !== null) return refused("the body is empty: expected a JSON object", null);
    if (problem !== null) return refused(`the body is not a JSON object: ${problem}`, null);
    const problemOfModel = this.#problemOfModel();
    if (problemOfModel !== null) return refused(problemOfModel, "model");
    return {
      ok: true,
      model: this.#model?.name ?? null,
      modelPlace: this.#modelPlace(),
      stream: this.#stream,
      messages: this.#messages?.span() ?? null,
      input: this.#input?.span() ?? null,
      system: this.#system,
    };
  }

  key(depth: number, bytes: Buffer, start: number, end: number): void {
    if (depth === 1) {
      this.#hasMembers = true;
      this.#field = FIELDS.find((field) => isText(bytes, start, end, field)) ?? null;
    } else if (depth === 3) {
      this.#turns?.key(bytes, start, end);
    }
  }

  begin(depth: number, first: number, at: number): number {
    if (depth === 1) return this.#field === null ? 0 : this.#beginField(this.#field, first, at);
    if (depth === 0) this.#firstAt = at + 1;
    else if (depth === 2) this.#turns?.beginElement(first, at);
    else if (this.#turns !== null) return this.#turns.beginMember();
    return 0;
  }

  end(depth: number, at: number, bytes: Buffer, start: number, end: number): void {
    if (depth === 1) this.#endField(at, bytes, start, end);
    else if (depth === 2) this.#turns?.endElement(at);
    else if (depth === 3) this.#turns?.endMember(bytes, start, end);
  }

  #beginField(field: Field, first: number, at: number): number {
    switch (field) {
      case "model":
        if (this.#model !== null) this.#secondModelAt ??= at;
        this.#model ??= { start: at, end: at, isString: first === QUOTE, name: null };
        return this.#secondModelAt === null ? MODEL_BYTES : 0;
      case "stream":
        this.#stream = first === TRUE || (first === FALSE ? false : null);
        return 0;
      case "messages":
      case "input":
        this.#turns = first === OPEN_BRACKET ? new Turns() : null;
        this.maxDepth = this.#turns === null ? 1 : 3;
        if (field === "messages") this.#messages = this.#turns;
        else this.#input = this.#turns;
        return 0;
      case "system":
      case "instructions":
        this.#system = { start: at, end: at };
        return 0;
    }
  }

  #endField(at: number, bytes: Buffer, start: number, end: number): void {
    if (this.#field === "model" && this.#model !== null && this.#secondModelAt === null) {
      this.#model.end = at;
      if (start < end) this.#model.name = readText(bytes, start, end);
    } else if ((this.#field === "system" || this.#field === "instructions") && this.#system !== null) {
      this.#system.end = at;
    }
    this.#turns = null;
    this.maxDepth = 1;
  }

  #problemOfModel(): string | null {
    if (this.#model === null) return null;
    const { start, isString, name } = this.#model;
    if (this.#secondModelAt !== null) {
      return `the body has two \`model\` keys, at bytes ${start} and ${this.#secondModelAt}`;
    }
    if (!isString) return "`model` must be a string";
    if (name === "") return "`model` must not be empty";
    return name === null || name.length > MAX_MODEL_NAME
      ? `\`model\` must not be longer than ${MAX_MODEL_NAME} characters`
      : null;
  }

  #modelPlace(): ModelPlace {
    if (this.#model !== null) {
      const { start, end } = this.#model;
      return { span: { start, end }, before: "", quoted: true, after: "" };
    }
    const span = { start: this.#firstAt, end: this.#firstAt };
    return { span, before: '"model":', quoted: true, after: this.#hasMembers ? "," : "" };
  }
}
