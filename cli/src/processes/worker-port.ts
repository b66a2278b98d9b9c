import type { Worker } from "node:cluster";
import type { FromRoom, Port, ToRoom } from "@farmgate/gateway";
import type { Log } from "@farmgate/wire";
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

/**
 * The same channel's end in the process itself; `listen` adds a listener for what the primary says. What is sent to a
 * primary that is gone before `disconnect` tells so is lost, and must not end the answers that are under way here.
 */
export function portOf(
  worker: Worker,
  log: Pick<Log, "debug">,
  listen: (listener: (message: ToProcess) => void) => void,
): Port<FromRoom, ToRoom> {
  worker.on("error", (err) => log.debug({ err }, "the primary process was not reached"));
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
