import type { Cleanup } from "./farmgate-process.ts";
import {
  chunk,
  LAST_CHUNK,
  type RawRequest,
  type RawWorker,
  startRawWorker,
  STREAM_HEAD,
  whole,
} from "./raw-worker.ts";

export interface HeldWorker {
  raw: RawWorker;
  /** Ends all answers that are held, as they should end, and from now on those that come. */
  release(): void;
}

const piece = (choice: object) =>
  chunk(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [choice] })}\n\n`);
const FIRST = piece({ index: 0, delta: { role: "assistant", content: "so" }, finish_reason: null });
const LAST = piece({ index: 0, delta: {}, finish_reason: "stop" });

/** A raw worker of `m` that begins each chat stream at once, and holds its end, and whole answers, until it is released. */
export async function startHeldWorker(cleanup: Cleanup): Promise<HeldWorker> {
  const raw = await startRawWorker(cleanup);
  let held: (() => void)[] = [];
  let open = false;
  const whenOpen = (end: () => void) => void (open ? end() : held.push(end));
  raw.answer = (request) => {
    const { path, socket } = request;
    if (path === "/v1/embeddings") return whenOpen(() => void socket.write(whole(vectorsFor(request))));
    socket.write(STREAM_HEAD);
    socket.write(FIRST);
    whenOpen(() => {
      socket.write(LAST);
      socket.write(chunk("data: [DONE]\n\n"));
      socket.write(LAST_CHUNK);
    });
  };
  return {
    raw,
    release() {
      open = true;
      for (const end of held) end();
      held = [];
    },
  };
}

function vectorsFor({ body }: RawRequest): string {
  const { input } = JSON.parse(body.toString()) as { input: string | string[] };
  const data = [input].flat().map((_, index) => ({ object: "embedding", index, embedding: [index, 1] }));
  return JSON.stringify({ object: "list", model: "m", data, usage: { prompt_tokens: 9, total_tokens: 9 } });
}
