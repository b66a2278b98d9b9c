import { readParameters } from "./header-parameters.ts";

/** The headers of one part of a form. */
export interface PartHead {
  /** The field's name; null: it has none. */
  name: string | null;
  /** Its value stands there as it is, not in base64 or the like. */
  isPlain: boolean;
}

/**
 * Reads the lines of a part's head, which CRLF divides (RFC 7578). A string says why it cannot be read: what readers
 * would take in different ways is refused, so that the worker finds no other field than was found here.
 */
export function readPartHead(head: string): PartHead | string {
  if (/[^\r]\n|\r[^\n]|^\n|\r$/.test(head)) return "a line of a part's head does not end with CRLF";
  let name: string | null = null;
  let isPlain = true;
  let dispositions = 0;
  for (const line of head.replace(/\r\n[ \t]+/g, " ").split("\r\n")) {
    const colon = line.indexOf(":");
    if (line === "") continue;
    if (colon < 0) return "a line of a part's head has no colon";
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).trim().toLowerCase()) {
      case "content-disposition": {
        const disposition = readParameters(value);
        if (disposition === null) return "a part's Content-Disposition is malformed";
        const { parameters } = disposition;
        if ([...parameters.keys()].some((key) => key.startsWith("name*"))) return "a part has `name*`: write `name`";
        name = parameters.get("name") ?? null;
        dispositions += 1;
        break;
      }
      case "content-transfer-encoding":
        isPlain = /^(7bit|8bit|binary)$/i.test(value);
        break;
      default:
    }
  }
  return dispositions > 1 ? "a part has two Content-Dispositions" : { name, isPlain };
}
