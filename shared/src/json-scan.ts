import { FarmError } from "./errors.ts";
import { JsonReader, JsonSyntaxError, type Span } from "./json-reader.ts";
import { MAX_MODEL_NAME } from "./model-name.ts";

/** Where a body's `messages` stand: from the start of the first element to the end of the last. */
export interface MessagesSpan extends Span {
  /**
   * Of the last `ANSWERS_KEPT` elements whose `role` is `assistant` (earlier answers that the caller sends back), in
   * order: the end of the element before it. One that comes first has none.
   */
  beforeAnswers: readonly number[];
}

/** A body may hold millions of elements; what is kept of them is bounded. */
export const ANSWERS_KEPT = 64;

/** What routing reads of a request body. Byte ranges are `[start, end)` in that very body. */
export interface ScannedBody {
  ok: true;
  model: string;
  /** The value of `model`, both quotes included. */
  modelStart: number;
  modelEnd: number;
  /** null: absent, or no boolean (APIs differ in what that means). */
  stream: boolean | null;
  /** null: no such array, or an empty one. */
  messages: MessagesSpan | null;
}

/** Why a body cannot be routed: for a 400 `invalid_request`. */
export interface RefusedBody {
  ok: false;
  message: string;
  /** The field at fault; null: the body itself. */
  param: string | null;
}

export type BodyScan = ScannedBody | RefusedBody;

/**
 * Reads what routing needs of a JSON body, in one validating pass that builds no values: megabytes of base64 cost
 * little more than the reading of them. Only keys of the outermost object count, wherever they stand and however
 * they are escaped. Of a repeated key the last counts, as with JSON.parse; two `model` keys are refused, since
 * gateway and worker could each see another one.
 */
export function scanBody(body: Buffer): BodyScan {
  const reader = new JsonReader(body);
  if (reader.peek() === -1) return refused("the body is empty: expected a JSON object", null);
  const models: Span[] = [];
  let stream: boolean | null = null;
  let messages: MessagesSpan | null = null;
  try {
    reader.object((key) => {
      // Of many, two are enough to tell.
      if (reader.is(key, "model") && models.length < 2) models.push(reader.value());
      else if (reader.is(key, "stream")) stream = asBoolean(body, reader.value());
      else if (reader.is(key, "messages")) messages = readMessages(reader);
      else reader.value();
    });
    reader.end();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return refused(`the body is not a JSON object: ${error.message}`, null);
    throw error;
  }
  const [span, second] = models;
  if (span === undefined) return refused("the body has no `model`", "model");
  if (second !== undefined) {
    return refused(`the body has two \`model\` keys, at bytes ${span.start} and ${second.start}`, "model");
  }
  if (body[span.start] !== 0x22) return refused("`model` must be a string", "model");
  // Six bytes a character at most.
  const model = span.end - span.start > 6 * MAX_MODEL_NAME + 2 ? null : reader.text(span);
  if (model === "") return refused("`model` must not be empty", "model");
  if (model === null || model.length > MAX_MODEL_NAME) {
    return refused(`\`model\` must not be longer than ${MAX_MODEL_NAME} characters`, "model");
  }
  return { ok: true, model, modelStart: span.start, modelEnd: span.end, stream, messages };
}

/**
 * As `scanBody`, but throws `invalid_request` for a body that cannot be routed. `encoding` is its content-encoding: what
 * is packed is no JSON, and its sender can be told so.
 */
export function scanOrRefuse(body: Buffer, encoding: string = "identity"): ScannedBody {
  const scan = scanBody(body);
  if (scan.ok) return scan;
  const packed = `the body is packed (content-encoding: ${encoding.slice(0, 50)}); send it unpacked`;
  const why = encoding === "identity" ? scan.message : packed;
  throw new FarmError(
    "invalid_request",
    `The request cannot be routed: ${why}.`,
    scan.param === null ? {} : { param: scan.param },
  );
}

/** The same body with another model: the bytes of that value change, no others. The given body is left as it is. */
export function replaceModel(body: Buffer, scan: ScannedBody, model: string): Buffer {
  if (model === scan.model) return body;
  return Buffer.concat([
    body.subarray(0, scan.modelStart),
    Buffer.from(JSON.stringify(model)),
    body.subarray(scan.modelEnd),
  ]);
}

function readMessages(reader: JsonReader): MessagesSpan | null {
  if (reader.peek() !== 0x5b) {
    reader.value();
    return null;
  }
  let start = -1;
  let end = -1;
  let beforeAnswers: number[] = [];
  reader.array(() => {
    const isObject = reader.peek() === 0x7b;
    if (start < 0) start = reader.at;
    if (isObject && readMessage(reader) && end >= 0) beforeAnswers.push(end);
    else if (!isObject) reader.value();
    end = reader.at;
    if (beforeAnswers.length === 2 * ANSWERS_KEPT) beforeAnswers = beforeAnswers.slice(ANSWERS_KEPT);
  });
  return start < 0 ? null : { start, end, beforeAnswers: beforeAnswers.slice(-ANSWERS_KEPT) };
}

/** Whether the object's own `role` is `assistant`. */
function readMessage(reader: JsonReader): boolean {
  let assistant = false;
  reader.object((key) => {
    const isRole = reader.is(key, "role");
    const value = reader.value();
    if (isRole) assistant = reader.bytes[value.start] === 0x22 && reader.is(value, "assistant");
  });
  return assistant;
}

function asBoolean(body: Buffer, span: Span): boolean | null {
  const text = body.toString("latin1", span.start, Math.min(span.end, span.start + 6));
  if (text === "true") return true;
  return text === "false" ? false : null;
}

function refused(message: string, param: string | null): RefusedBody {
  return { ok: false, message, param };
}
