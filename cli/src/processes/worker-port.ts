import type { Worker } from "node:cluster";
import type { FromRoom, Port, ToRoom } from "@farmgate/gateway";
import type { FromProcess, ToProcess } from "./messages.ts";

/** The primary's end of the room's channel to a process. */
export function portTo(worker: Worker): Port<ToRoom, FromRoom> {
  return {
    get isOpen() {
      return worker.isConnected();
    },
    send(messages) {
      const message: ToProcess = { kind: "room", messages };
      if (worker.isConnected()) worker.send(message);
    },
    listen(events) {
      worker.on("message", (message: FromProcess) => message.kind === "room" && events.messages(message.messages));
      // Either may come first, and either means that it is heard no more.
      for (const gone of ["disconnect", "exit"]) worker.once(gone, () => events.closed());
    },
  };
}

/** The same channel's end in the process itself; `listen` adds a listener for what the primary says. */
export function portOf(
  worker: Worker,
  listen: (listener: (message: ToProcess) => void) => void,
): Port<FromRoom, ToRoom> {
  return {
    get isOpen() {
      return worker.isConnected();
    },
    send(messages) {
      const message: FromProcess = { kind: "room", messages };
      if (worker.isConnected()) worker.send(message);
    },
    listen(events) {
      listen((message) => message.kind === "room" && events.messages(message.messages));
      worker.once("disconnect", () => events.closed());
    },
  };
}
