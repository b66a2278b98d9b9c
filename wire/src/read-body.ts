import type { IncomingMessage } from "node:http";
import { type BodyBytes, type BodyScanner, FarmError, formatSize } from "@farmgate/shared";
import type { BodyShare } from "./body-room.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

/** Ends the reading early: it rejects with this. */
export type StopReading = (why: FarmError) => void;

export interface Reading {
  /** Grows with what comes; releasing it is the caller's part. */
  share?: BodyShare;
  /** Reads along. Of a body that it refuses nothing more is kept; its end is waited for, and its length still counts. */
  scanner?: BodyScanner;
  /** Is handed what ends the reading early. */
  onStart?: (stop: StopReading) => void;
  /** When there is no room for more, the seconds after which there may be. */
  roomInS?: () => number;
}

/**
 * The whole request body, at most `limit` bytes.
 * Rejects with `body_too_large` as soon as that is known, with `queue_full` when there is no room for more, with
 * `client_closed` when the caller leaves first, and with what stopped it.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  { share, scanner, onStart, roomInS = () => 5 }: Reading = {},
): Promise<BodyBytes> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    const tooLarge = () =>
      new FarmError("body_too_large", `The request body is over the limit of ${formatSize(limit)}.`);
    if (announced > limit) {
      reject(tooLarge());
      return;
    }
    let gathered = new GatheredBytes();
    let received = 0;
    // The request outlives its body by a whole answer, and what listens to it holds the body: so nothing stays.
    const settle = (): void => {
      request.off("data", data).off("end", end).off("close", close).off("error", left);
      request.on("error", ignore);
    };
    const data = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > limit) return stop(tooLarge());
      scanner?.push(chunk);
      if (scanner?.isRefused === true) {
        share?.release();
        gathered = new GatheredBytes();
      } else if (share?.grow(chunk.length) === false) {
        stop(noRoom(roomInS()));
      } else {
        gathered.add(chunk);
      }
    };
    const stop = (why: FarmError): void => {
      request.pause();
      settle();
      reject(why);
    };
    const end = (): void => {
      settle();
      resolve(gathered.body());
    };
    const left = (): void => {
      settle();
      reject(new FarmError("client_closed", "The caller left before its request was complete."));
    };
    const close = (): void => {
      if (!request.complete) left();
    };
    request.on("data", data).on("end", end).on("close", close).on("error", left);
    onStart?.(stop);
  });
}

function noRoom(retryAfterS: number): FarmError {
  const message = "The requests that wait already take up all the memory there is for them.";
  return new FarmError("queue_full", message, { retryAfterS });
}

function ignore(): void {}
