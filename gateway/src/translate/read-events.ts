import { createParser } from "eventsource-parser";
import type { WorkerEvent } from "./translation.ts";

/** Takes a stream's bytes as they come, split anywhere, and hands on its events. */
export interface EventReader {
  push(bytes: Buffer): void;
  /** No more bytes come. */
  end(): void;
}

/** Reads server-sent events; comments are passed over. What an event is made of when the stream ends is dropped. */
export function readEvents(onEvent: (event: WorkerEvent) => void): EventReader {
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ event, data }) => onEvent({ event: event ?? "", data }) });
  return {
    push: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    end: () => {},
  };
}

/** Reads lines of JSON; the last one may lack its line break. */
export function readLines(onEvent: (event: WorkerEvent) => void): EventReader {
  const decoder = new TextDecoder();
  let rest = "";
  const take = (line: string) => {
    const data = line.trim();
    if (data !== "") onEvent({ event: "", data });
  };
  return {
    push(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    },
    end: () => take(rest),
  };
}
