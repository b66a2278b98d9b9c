import type { IncomingMessage } from "node:http";
import { FarmError, formatSize } from "@farmgate/shared";
import { GatheredBytes } from "./gathered-bytes.ts";

/** Ends the reading early: it rejects with this. */
export type StopReading = (why: FarmError) => void;

/**
 * The whole request body, at most `limit` bytes.
 * Rejects with `body_too_large` as soon as that is known, with `client_closed` when the caller leaves first, and with
 * whatever `onStart`'s argument is called with before the end.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  onStart: (stop: StopReading) => void = ignore,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    const tooLarge = () =>
      new FarmError("body_too_large", `The request body is over the limit of ${formatSize(limit)}.`);
    if (announced > limit) {
      reject(tooLarge());
      return;
    }
    const gathered = new GatheredBytes();
    // The request outlives its body by a whole answer, and what listens to it holds the body: so nothing stays.
    const settle = (): void => {
      request.off("data", data).off("end", end).off("close", close).off("error", left);
      request.on("error", ignore);
    };
    const data = (chunk: Buffer): void => {
      gathered.add(chunk);
      if (gathered.length > limit) stop(tooLarge());
    };
    const stop = (why: FarmError): void => {
      request.pause();
      settle();
      reject(why);
    };
    const end = (): void => {
      settle();
      resolve(gathered.bytes());
    };
    const left = (): void => {
      settle();
      reject(new FarmError("client_closed", "The caller left before its request was complete."));
    };
    const close = (): void => {
      if (!request.complete) left();
    };
    request.on("data", data).on("end", end).on("close", close).on("error", left);
    onStart(stop);
  });
}

function ignore(): void {}
