import { allOf, type Fault } from "./fault.ts";

/** Connections that do not come about, or end between two requests. */
export const connections: readonly Fault[] = [
  { name: "refuse", phase: "connect", worker: "refuse" },
  { name: "blackhole", phase: "connect", worker: "blackhole", silent: true },
  { name: "reset on accept", phase: "connect", worker: "hang up" },
  {
    name: "idle end races the next request",
    phase: "connect",
    answer: (scene) => {
      const { socket, clock, random } = scene;
      const after = random() * 4;
      socket.write(allOf(scene), () => clock.after(after, () => socket.destroy()));
    },
  },
  {
    name: "end after each answer, unannounced",
    phase: "end",
    harmless: true,
    answer: (scene) => void scene.socket.end(allOf(scene)),
  },
  {
    name: "half-close after the head",
    phase: "head",
    answer: (scene) => {
      const { socket, head, clock } = scene;
      socket.write(head, () => clock.after(3, () => socket.end()));
    },
  },
];
