import { FarmError } from "@farmgate/shared";
import type { FastifyInstance } from "fastify";
import type { Farm } from "../farm.ts";

/** A trace of the farm's requests, for as long as an admin reads it: nothing is recorded for anybody else. */
export function traceRoute(app: FastifyInstance, farm: Farm): void {
  // There is no end of it that a HEAD could tell of.
  app.get("/farm/trace", { exposeHeadRoute: false }, (request, reply) => {
    const { caller } = request;
    if (!caller.changes) throw new FarmError("forbidden", "Only an admin key may record a trace.");
    if (farm.draining) throw new FarmError("draining", "The gateway is stopping.");
    if (farm.recorder.isFull) {
      throw new FarmError(
        "rate_limited",
        "As many traces as may be are being recorded: end one, or share what it writes.",
      );
    }
    reply.hijack();
    const response = reply.raw;
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    const stop = farm.recorder.open({
      waiting: () => response.writableLength,
      write: (text) => void response.write(text),
      end: () => void response.end(),
    });
    farm.log.info({ by: caller.name || undefined }, "a trace is being recorded");
    response.on("close", () => {
      stop();
      farm.log.info({ by: caller.name || undefined }, "the recording of a trace has ended");
    });
  });
}
