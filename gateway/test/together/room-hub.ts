import type { Clock } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import type { Hub } from "../../src/together/hub.ts";
import type { FromRoom, Port, PortEvents, ToRoom } from "../../src/together/processes/messages.ts";
import { ProcessHub } from "../../src/together/processes/process-hub.ts";
import { RoomDesk } from "../../src/together/processes/room-desk.ts";

type Ends = { child: Port<FromRoom, ToRoom>; room: Port<ToRoom, FromRoom>; set(open: boolean): void };

/** A channel inside of one process: messages arrive in order, as JSON leaves them, and never in the turn they were sent. */
function channel(): Ends {
  let isOpen = true;
  // What was sent over a channel that has been closed since never arrives.
  let run = 0;
  const end = <In, Out>() => {
    const listeners: PortEvents<In>[] = [];
    const other: { deliver: (messages: readonly Out[]) => void } = { deliver: () => {} };
    const port: Port<In, Out> = {
      get isOpen() {
        return isOpen;
      },
      send(messages) {
        if (!isOpen) return;
        const [text, sentIn] = [JSON.stringify(messages), run];
        setImmediate(() => sentIn === run && isOpen && other.deliver(JSON.parse(text) as Out[]));
      },
      listen: (events) => void listeners.push(events),
    };
    return { port, other, listeners };
  };
  const child = end<FromRoom, ToRoom>();
  const room = end<ToRoom, FromRoom>();
  child.other.deliver = (messages) => room.listeners.forEach((events) => events.messages(messages));
  room.other.deliver = (messages) => child.listeners.forEach((events) => events.messages(messages));
  return {
    child: child.port,
    room: room.port,
    set(open) {
      if (isOpen === open) return;
      isOpen = open;
      run += 1;
      for (const events of [...room.listeners, ...child.listeners]) events[open ? "opened" : "closed"]();
    },
  };
}

/** A farm's meeting place for gateways of one process. */
export interface TestRoom {
  /** A further member. */
  hub(id: string): Hub;
  /** While `true` nobody hears anybody: claims are answered `alone`, and every member has trouble. */
  away(isAway: boolean): void;
  /** This member's process has died: it says nothing any more, and the room knows. */
  drop(id: string): void;
}

export function testRoom(clock: Clock = createSystemClock()): TestRoom {
  const desk = new RoomDesk(clock, 0);
  const ends = new Map<string, Ends>();
  return {
    hub(id) {
      const made = channel();
      ends.set(id, made);
      desk.connect(id, made.room);
      return new ProcessHub({ id, clock, port: made.child });
    },
    away(isAway) {
      for (const made of ends.values()) made.set(!isAway);
    },
    drop(id) {
      ends.get(id)?.set(false);
      ends.delete(id);
    },
  };
}
