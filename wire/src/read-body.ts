import type { IncomingMessage } from "node:http";
import { FarmError, formatSize } from "@farmgate/shared";

/**
 * The whole request body, at most `limit` bytes.
 * Rejects with `body_too_large` as soon as that is known, with `client_closed` when the caller leaves first.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    const tooLarge = () =>
      new FarmError("body_too_large", `The request body is over the limit of ${formatSize(limit)}.`);
    if (announced > limit) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        request.pause();
        request.removeAllListeners("data");
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)));
    const left = () => reject(new FarmError("client_closed", "The caller left before its request was complete."));
    request.on("close", () => {
      if (!request.complete) left();
    });
    request.on("error", left);
  });
}
