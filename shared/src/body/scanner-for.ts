import { type Api, apiForm } from "../apis.ts";
import { headerValue } from "../headers.ts";
import { unroutable } from "../unroutable.ts";
import { FormBody } from "./form-body.ts";
import { readParameters } from "./header-parameters.ts";
import { JsonBody } from "./json-body.ts";
import type { BodyScan, BodyScanner, ScannedBody } from "./scanned-body.ts";

const FORM = "multipart/form-data";

/** What a boundary may be made of, longer than RFC 2046 has it: printable ASCII, no space at its end. */
const BOUNDARY = /^[\x20-\x7e]{0,199}[\x21-\x7e]$/;

/**
 * What reads the body of a request of that API; `raw` are its headers, flat. Throws `invalid_request`.
 * 1. A form is read as one, where the path takes forms.
 * 2. A path that takes forms takes JSON as well, said to be so: some clients send it, and some workers read it.
 * 3. On every other path the body is JSON, whatever its sender calls it: curl calls it a form of the other kind.
 */
export function scannerFor(api: Api, raw: readonly string[]): BodyScanner {
  const { path, body } = apiForm(api);
  const contentType = headerValue(raw, "content-type") ?? "";
  const type = readParameters(contentType);
  // 1
  if (contentType.trim().toLowerCase().startsWith(FORM)) {
    if (body !== "form") throw unroutable(`${path} takes JSON, not a form (${FORM})`);
    const named = raw.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "content-type");
    const boundary = type?.value === FORM && named.length === 1 ? type.parameters.get("boundary") : undefined;
    if (boundary === undefined || !BOUNDARY.test(boundary)) throw unroutable(`its content-type has no usable boundary`);
    return new FormBody(boundary);
  }
  // 2, 3
  if (body !== "form" || type?.value === "application/json") return new JsonBody();
  const found = contentType === "" ? "and the request has no content-type" : `not ${contentType.slice(0, 100)}`;
  throw unroutable(`${path} takes a form (${FORM}) or application/json, ${found}`);
}

/**
 * What was found. Throws `invalid_request` for a body that cannot be routed. `encoding` is its content-encoding: what is
 * packed can not be read, and its sender can be told so.
 */
export function foundIn(scan: BodyScan, encoding: string = "identity"): ScannedBody {
  if (scan.ok) return scan;
  const packed = `the body is packed (content-encoding: ${encoding.slice(0, 50)}); send it unpacked`;
  throw unroutable(encoding === "identity" ? scan.message : packed, scan.param);
}
