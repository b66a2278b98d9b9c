import { type Agent, request } from "node:http";
import { type Asked, requestBody } from "../answers.ts";
import type { Seen } from "../verdict.ts";

export interface Patience {
  /** The caller leaves after this time; null: it stays. Milliseconds. */
  leaveAfterMs: number | null;
  /** A request that has not ended by then has no end. */
  ceilingMs: number;
}

/** One chat request of a caller that behaves well. Never rejects. */
export function send(url: string, asked: Asked, agent: Agent, patience: Patience): Promise<Seen> {
  return new Promise((resolve) => {
    const body = requestBody(asked);
    const pieces: Buffer[] = [];
    let status = 0;
    let ended = false;
    const end = (how: Partial<Seen>) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      const seen = { status, body: Buffer.concat(pieces), complete: false, left: false, hung: false, ...how };
      outgoing.destroy();
      resolve(seen);
    };
    const { leaveAfterMs, ceilingMs } = patience;
    const timer = setTimeout(
      () => end(leaveAfterMs === null ? { hung: true } : { left: true }),
      leaveAfterMs ?? ceilingMs,
    );
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers }, (response) => {
      status = response.statusCode ?? 0;
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", () => {});
      response.on("end", () => {
        if (response.complete) finish();
      });
      response.on("close", () => end({ complete: response.complete }));
      const finish = () => {
        if (ended) return;
        ended = true;
        clearTimeout(timer);
        resolve({ status, body: Buffer.concat(pieces), complete: true, left: false, hung: false });
      };
    });
    outgoing.on("error", () => end({}));
    outgoing.end(body);
  });
}
