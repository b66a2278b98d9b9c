import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody, FarmError } from "@farmgate/shared";
import { endAfterUpload } from "./answer-error.ts";

/** More headers than any client sends, or any chain of proxies adds. */
const MOST_HEADERS = 200;

/** What the parser lets pass and programs on the way may read differently. */
export interface ShapeFault {
  status: "400 Bad Request" | "431 Request Header Fields Too Large";
  message: string;
}

/**
 * What is wrong with a request that Node's parser has taken; null: nothing.
 *
 * 1. It is of no HTTP version that is spoken here.
 * 2. It asks for a tunnel, or for its own echo, credentials included.
 * 3. It names no host, or two of them (RFC 9112, 3.2).
 * 4. Its body is framed in a way that a proxy in front may not understand alike (RFC 9112, 6.1).
 * 5. It has more headers than are read.
 */
export function shapeFault({ method, httpVersion, headers, rawHeaders }: IncomingMessage): ShapeFault | null {
  const is11 = httpVersion === "1.1";
  if (!is11 && httpVersion !== "1.0") return bad("The request must be HTTP/1.1 or HTTP/1.0."); // (1)
  if (method === "CONNECT" || method === "TRACE") return bad(`${method} is not served here.`); // (2)
  const hosts = countHosts(rawHeaders);
  if (hosts > 1) return bad("The request names two hosts."); // (3)
  if (hosts === 0 && is11) return bad("The request names no host."); // (3)
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (!is11 || coding.toLowerCase() !== "chunked")) {
    return bad("The request's Transfer-Encoding must be chunked and nothing else, on HTTP/1.1."); // (4)
  }
  if (rawHeaders.length > 2 * MOST_HEADERS) {
    const message = `The request has more than ${MOST_HEADERS} headers.`;
    return { status: "431 Request Header Fields Too Large", message }; // (5)
  }
  return null;
}

function bad(message: string): ShapeFault {
  return { status: "400 Bad Request", message };
}

/** Node keeps the first and tells of no other. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === "host") hosts += 1;
  }
  return hosts;
}

/** Answers it, and that nothing more is taken on this connection. */
export function refuseShape(response: ServerResponse, { status, message }: ShapeFault): void {
  const body = Buffer.from(JSON.stringify(errorBody("openai", new FarmError("invalid_request", message), "")));
  const [code = ""] = status.split(" ");
  response.writeHead(Number(code), {
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close",
  });
  if (response.req.complete) response.end(body);
  else endAfterUpload(response, body);
}
