import { parseJson } from "@farmgate/shared";
import { z } from "zod";

/** What a worker's error answer says, whichever of the known shapes it has. */
export interface ErrorText {
  /** At most 2,000 characters. */
  message: string;
  type: string | null;
  /** As text, also where the engine sends a number. */
  code: string | null;
}

const MAX_MESSAGE = 2_000;
/** Of a longer reason its start and its end are kept: the start names what failed, a script's last lines say why. */
const REASON_START = 180;
const REASON_END = 315;
const CUT = " ... ";

const text = z.string().nullish().catch(null);
const label = z.union([z.string(), z.number()]).nullish().catch(null);
const flat = z.object({ message: text, msg: text, type: label, error_type: label, code: label });
const envelope = flat.extend({ error: z.unknown().optional(), detail: z.unknown().optional() });

/**
 * Reads an error answer. The shapes: `{error:{message,type,code}}`, `{error:"text",error_type}`,
 * `{message,type,code}`, `{detail:{msg,type}}` or `{detail:"text"}`, and text that is no JSON.
 */
export function readErrorText(body: string): ErrorText {
  const error = findError(body);
  return { ...error, message: error.message.slice(0, MAX_MESSAGE).trim() };
}

/**
 * What an error answer gives as its reason, for people: one line of at most 500 characters, in which control
 * characters and all that would change how a terminal shows it are spaces. Empty when it gives none; a page of HTML
 * is none.
 */
export function readErrorReason(body: string): string {
  const line = oneLine(findError(body).message);
  if (line.startsWith("<")) return "";
  if (line.length <= REASON_START + CUT.length + REASON_END) return line;
  return oneLine(line.slice(0, REASON_START)) + CUT + oneLine(line.slice(-REASON_END));
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
}

function findError(body: string): ErrorText {
  const parsed = envelope.safeParse(parseJson(body));
  if (!parsed.success) return errorText(body, null, null);
  const outer = parsed.data;
  const inner = outer.error ?? outer.detail;
  if (typeof inner === "string") return errorText(inner, outer.error_type ?? outer.type, outer.code);
  const fields = flat.safeParse(inner);
  const found = fields.success ? fields.data : outer;
  return errorText(found.message ?? found.msg ?? "", found.type ?? outer.error_type, found.code ?? outer.code);
}

function errorText(
  message: string,
  type: string | number | null | undefined,
  code: string | number | null | undefined,
) {
  return {
    message,
    type: type === null || type === undefined ? null : String(type),
    code: code === null || code === undefined ? null : String(code),
  };
}
