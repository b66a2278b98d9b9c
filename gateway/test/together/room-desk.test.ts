import { expect, it } from "vitest";
import type { FromRoom, PortEvents, ToRoom } from "../../src/together/processes/messages.ts";
import { RoomDesk } from "../../src/together/processes/room-desk.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const JOIN: ToRoom = { kind: "join", counts: [], callers: [] };
const ASK: ToRoom = { kind: "ask", number: 1, question: { kind: "requests" } };

/** Members that have joined, what each was told of questions, and how each says something. */
function met(...names: string[]) {
  const desk = new RoomDesk(steppedClock(), 0);
  return names.map((name) => {
    const heard: string[] = [];
    let events: PortEvents<ToRoom> | null = null;
    desk.connect(name, {
      isOpen: true,
      send: (messages: readonly FromRoom[]) => {
        for (const message of messages) {
          if (message.kind === "answer" || message.kind === "answered") heard.push(`${message.kind} ${message.number}`);
        }
      },
      listen: (given) => void (events = given),
    });
    const says = (...messages: ToRoom[]) => events?.messages(messages);
    says(JOIN);
    return { heard, says };
  });
}

/** The desk sends what it has to say at the end of the turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

it("waits for no answer of a member that has joined anew, as for none of one that has left", async () => {
  const [a, b, c] = met("a", "b", "c");
  a?.says(ASK);
  c?.says({ kind: "answer", to: "a", number: 1 });
  await turn();
  expect(a?.heard).toEqual([]);
  b?.says(JOIN);
  await turn();
  expect(a?.heard).toEqual(["answered 1"]);
});

it("forgets what a member had asked before it joined anew", async () => {
  const [a, b] = met("a", "b");
  a?.says(ASK);
  a?.says(JOIN);
  b?.says({ kind: "answer", to: "a", number: 1, value: "late" });
  await turn();
  expect(a?.heard).toEqual([]);
});
