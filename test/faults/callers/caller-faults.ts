import type { Socket } from "node:net";
import type { Random } from "@farmgate/shared";

/** How one caller misbehaves, on a connection of its own. */
export interface CallerFault {
  name: string;
  phase: string;
  /** It does without its answer: what it has got of it need not be whole. */
  leaves: boolean;
  /** Sends `request` in its way and reads what it wants; the connection ends by itself or by the caller. */
  act: (socket: Socket, request: Buffer, tools: Tools) => void;
}

interface Tools {
  random: Random;
  /** Calls back when so many bytes of the answer are there. */
  atBytes: (count: number, then: () => void) => void;
  after: (ms: number, then: () => void) => void;
}

type Way = (socket: Socket) => void;
const WAYS: readonly [string, Way][] = [
  ["leaves", (socket) => void socket.destroy()],
  ["resets", (socket) => void socket.resetAndDestroy()],
  ["half-closes", (socket) => void socket.end()],
];

const leaving = WAYS.flatMap(([name, way]): CallerFault[] => [
  {
    name: `${name} in its head`,
    phase: "connect",
    leaves: true,
    act: (socket, request) => void socket.write(request.subarray(0, 30), () => way(socket)),
  },
  {
    name: `${name} in its body`,
    phase: "before head",
    leaves: true,
    act: (socket, request) => void socket.write(request.subarray(0, -20), () => way(socket)),
  },
  {
    name: `${name} once it has asked`,
    phase: "before head",
    leaves: true,
    act: (socket, request, { random, after }) =>
      void socket.write(request, () => after(Math.floor(random() * 20), () => way(socket))),
  },
  {
    name: `${name} at the first byte`,
    phase: "first byte",
    leaves: true,
    act: (socket, request, { atBytes }) => {
      atBytes(1, () => way(socket));
      socket.write(request);
    },
  },
  {
    name: `${name} in the answer`,
    phase: "mid stream",
    leaves: true,
    act: (socket, request, { random, atBytes }) => {
      atBytes(400 + Math.floor(random() * 1_000), () => way(socket));
      socket.write(request);
    },
  },
]);

/** Every way in which a caller of this harness misbehaves. */
export const callerFaults: readonly CallerFault[] = [
  ...leaving,
  {
    name: "stops reading, and goes on",
    phase: "mid stream",
    leaves: false,
    act: (socket, request, { atBytes, after }) => {
      atBytes(1, () => {
        socket.pause();
        after(400, () => void socket.resume());
      });
      socket.write(request);
    },
  },
  {
    name: "stops reading, and leaves",
    phase: "mid stream",
    leaves: true,
    act: (socket, request, { atBytes, after }) => {
      atBytes(1, () => {
        socket.pause();
        after(400, () => void socket.destroy());
      });
      socket.write(request);
    },
  },
  {
    name: "sends slowly",
    phase: "before head",
    leaves: false,
    act: (socket, request, { after }) => {
      const step = (from: number) => {
        if (socket.destroyed || from >= request.length) return;
        socket.write(request.subarray(from, from + 10));
        after(10, () => step(from + 10));
      };
      step(0);
    },
  },
];
