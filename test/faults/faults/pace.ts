import { allOf, type Fault, type Scene } from "./fault.ts";

/** Answers that are good, and come in a strange way. */
export const pace: readonly Fault[] = [
  {
    name: "slow head",
    phase: "head",
    harmless: true,
    answer: (scene) => slowly(scene, scene.head, 400, () => rest(scene)),
  },
  { name: "trickle, a byte a tick", phase: "mid stream", harmless: true, answer: (scene) => bytewise(scene) },
  {
    name: "50 interim answers",
    phase: "before head",
    harmless: true,
    answer: (scene) => {
      scene.socket.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(50));
      scene.socket.write(allOf(scene));
    },
  },
  {
    name: "flood of interim answers",
    phase: "before head",
    answer: ({ socket }) => {
      const many = Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(500));
      const more = () => {
        if (!socket.destroyed) socket.write(many, () => setImmediate(more));
      };
      more();
    },
  },
];

/** Some bytes over this many milliseconds. */
function slowly({ socket, clock }: Scene, bytes: Buffer, ms: number, then: () => void): void {
  const steps = 20;
  const size = Math.ceil(bytes.length / steps);
  const step = (from: number) => {
    if (socket.destroyed) return;
    if (from >= bytes.length) return then();
    socket.write(bytes.subarray(from, from + size));
    clock.after(ms / steps, () => step(from + size));
  };
  step(0);
}

function rest({ socket, chunks, end }: Scene): void {
  socket.write(Buffer.concat([...chunks, end]));
}

function bytewise(scene: Scene): void {
  const { socket } = scene;
  const bytes = allOf(scene);
  const step = (from: number) => {
    if (socket.destroyed || from >= bytes.length) return;
    socket.write(bytes.subarray(from, from + 1));
    setImmediate(() => step(from + 1));
  };
  step(0);
}

/** Good answers whose chunks come one by one. */
export const PACED: Fault = {
  name: "paced",
  phase: "mid stream",
  harmless: true,
  answer: ({ socket, head, chunks, end, clock }) => {
    socket.write(head);
    const step = (n: number) => {
      if (socket.destroyed) return;
      socket.write(chunks[n] ?? end);
      if (n < chunks.length && (n + 1 < chunks.length || end.length > 0)) clock.after(5, () => step(n + 1));
    };
    step(0);
  },
};
