import type { Worker } from "node:cluster";
import type { FromRoom, Port, ToRoom } from "@farmgate/gateway";
import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import { Answering } from "./answering.ts";
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

/** What a process hears of the primary, and what it needs to find out that it does not. */
export interface OwnEnd {
  worker: Worker;
  clock: Clock;
  log: Pick<Log, "debug" | "info" | "warn">;
  /** Adds a listener for what the primary says. */
  listen: (listener: (message: ToProcess) => void) => void;
}

/**
 * The same channel's end in the process itself. What is sent to a primary that is gone before `disconnect` tells so is
 * lost, and must not end the answers that are under way here. A primary that lives and says nothing, since it is held up,
 * cannot be met either: until it answers again the channel is closed, and what it says of the time before is not heard.
 */
export function portOf({ worker, clock, log, listen }: OwnEnd): Port<FromRoom, ToRoom> {
  worker.on("error", (err) => log.debug({ err }, "the primary process was not reached"));
  const answering = new Answering(worker, clock);
  return {
    get isOpen() {
      return worker.isConnected() && answering.isSure;
    },
    send(messages) {
      const message: FromProcess = { kind: "room", messages };
      if (this.isOpen) worker.send(message);
    },
    listen(events) {
      listen((message) => {
        answering.heard(message);
        if (message.kind === "room" && answering.isSure) events.messages(message.messages);
      });
      answering.watch({
        lost() {
          log.warn("the primary process does not answer: this one decides alone until it does");
          events.closed();
        },
        found() {
          log.info("the primary process answers again");
          events.opened();
        },
      });
      worker.once("disconnect", () => {
        answering.stop();
        events.closed();
      });
    },
  };
}
