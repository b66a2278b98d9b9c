import type { Socket } from "node:net";
import type { Clock, Random } from "@farmgate/shared";
import type { Asked } from "../answers.ts";

/** What a fault has to go by, at one request. */
export interface Scene {
  socket: Socket;
  asked: Asked;
  /** A good answer, as HTTP. */
  head: Buffer;
  chunks: Buffer[];
  end: Buffer;
  random: Random;
  clock: Clock;
}

/** How one worker misbehaves. */
export interface Fault {
  name: string;
  /** How far an exchange has come when it strikes. */
  phase: "connect" | "before head" | "head" | "first byte" | "mid stream" | "end";
  /** Instead of a good answer; absent: its answers are good. */
  answer?: (scene: Scene) => void;
  /** What happens to the worker as a whole before the requests; returns how it ends. */
  worker?: "refuse" | "blackhole" | "hang up";
  /** What a caller rightly gets of this worker, where its own word on its answer's length is what counts. */
  asSent?: (wanted: Buffer) => Buffer;
  /** It never ends by itself: only the gateway's time-outs end it, and at an agent the caller. */
  silent?: boolean;
  /** Its answers are good in the end. */
  harmless?: boolean;
}

/** All of a good answer. */
export function allOf({ head, chunks, end }: Scene): Buffer {
  return Buffer.concat([head, ...chunks, end]);
}
