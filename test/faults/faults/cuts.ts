import { allOf, type Fault, type Scene } from "./fault.ts";

/** Where an answer is cut: how many of its bytes go out. */
const PLACES: readonly { phase: Fault["phase"]; at: string; bytes: (scene: Scene) => number }[] = [
  { phase: "before head", at: "byte 0", bytes: () => 0 },
  { phase: "head", at: "in the head", bytes: ({ head, random }) => 1 + Math.floor(random() * (head.length - 1)) },
  { phase: "head", at: "after the head", bytes: ({ head }) => head.length },
  {
    phase: "first byte",
    at: "after a byte",
    bytes: ({ head, chunks, asked }) => head.length + firstByte(chunks, asked.streamed),
  },
  { phase: "mid stream", at: "in a chunk", bytes: inChunk },
  { phase: "mid stream", at: "between chunks", bytes: betweenChunks },
  { phase: "end", at: "before the end", bytes: (scene) => allOf(scene).length - 1 },
];

/** The first byte of the body proper stands behind its chunk's size. */
function firstByte([first = Buffer.alloc(0)]: readonly Buffer[], streamed: boolean): number {
  return streamed ? first.indexOf("\r\n") + 3 : 1;
}

function inChunk({ head, chunks, random }: Scene): number {
  const nth = Math.floor(random() * chunks.length);
  const before = chunks.slice(0, nth).reduce((sum, { length }) => sum + length, head.length);
  const own = chunks[nth]?.length ?? 0;
  return before + 1 + Math.floor(random() * (own - 2));
}

/** Inside an event as well, where a chunk ends there. A whole answer is one chunk: its middle. */
function betweenChunks({ head, chunks, random }: Scene): number {
  if (chunks.length === 1) return head.length + Math.floor((chunks[0]?.length ?? 0) / 2);
  const whole = 1 + Math.floor(random() * (chunks.length - 1));
  return chunks.slice(0, whole).reduce((sum, { length }) => sum + length, head.length);
}

const WAYS: readonly { name: string; silent?: boolean; cut: (scene: Scene) => void }[] = [
  { name: "reset", cut: ({ socket }) => void socket.resetAndDestroy() },
  { name: "fin", cut: ({ socket }) => void socket.end() },
  { name: "stall", silent: true, cut: () => {} },
];

/** RST, FIN and silence at each place of an answer. */
export const cuts: readonly Fault[] = WAYS.flatMap(({ name, silent = false, cut }) =>
  PLACES.map(({ phase, at, bytes }) => ({
    name: `${name} ${at}`,
    phase,
    silent,
    answer: (scene: Scene) => {
      const sent = allOf(scene).subarray(0, bytes(scene));
      if (sent.length === 0) return cut(scene);
      // A reset throws away what has not been read yet: the bytes get the time of one timer.
      scene.socket.write(sent, () => scene.clock.after(5, () => cut(scene)));
    },
  })),
);
