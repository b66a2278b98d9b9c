import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { errorBody, FarmError } from "@farmgate/shared";

/** How long a refused connection may pause before it is cut, in milliseconds. */
const LINGER_MS = 1_000;

/** Connections that have been told. */
const refused = new WeakSet<Socket>();

/** Node's own mark of the answer that is being written to a connection. */
type Answering = Socket & { _httpMessage?: ServerResponse | null };

/**
 * For a server's `clientError`: bytes that are no HTTP, headers over the limit, or headers that do not come. Cutting
 * at once while more comes in could lose the answer on its way; each further piece comes here again and is dropped.
 * Where an answer has begun there is no place for another one: it is cut.
 */
export function refuseNonsense(error: NodeJS.ErrnoException, socket: Answering): void {
  if (error.code === "ECONNRESET" || socket.destroyed || socket["_httpMessage"]?.headersSent === true) {
    socket.destroy();
    return;
  }
  if (refused.has(socket)) return;
  refused.add(socket);
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  if (!socket.writable) return;
  const { status, message } = told(error.code);
  const body = JSON.stringify(errorBody("openai", new FarmError("invalid_request", message), ""));
  const head =
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
    "connection: close\r\n\r\n";
  socket.end(head + body);
}

function told(code: string | undefined): { status: string; message: string } {
  if (code === "HPE_HEADER_OVERFLOW") {
    return { status: "431 Request Header Fields Too Large", message: "The request's headers are too large." };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { status: "408 Request Timeout", message: "The request did not come in time." };
  }
  if (code === "FARMGATE_NO_TLS") {
    return { status: "400 Bad Request", message: "This port takes HTTPS alone: ask at https:// in place of http://." };
  }
  return { status: "400 Bad Request", message: "The request is not valid HTTP." };
}
