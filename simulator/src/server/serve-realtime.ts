import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { CallerSocket } from "@farmgate/wire";
import { engineError, isEngineError } from "../decide/engine-error.ts";
import { FrameReader, OPCODE, writeFrame } from "../decide/frames.ts";
import { repliesTo, sessionCreated } from "../decide/realtime.ts";
import { errorOf, modelOf } from "./answer-inference.ts";
import type { EngineParts } from "./engine-parts.ts";
import { serveJob } from "./serve-inference.ts";
import type { Visit } from "./visit.ts";

/** What the key of a handshake is hashed with (RFC 6455, 1.3). */
const HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** `/v1/realtime`: waits for a slot and holds it until the session ends. */
export function serveRealtime(engine: EngineParts, visit: Visit, caller: CallerSocket): void {
  const model = modelOf(engine, visit.query.get("model"));
  if (isEngineError(model)) return visit.writer().error(model);
  if (model.kind !== "audio" && model.kind !== "chat") {
    return visit.writer().error(engineError(501, "This model holds no conversation"));
  }
  const ailments = engine.fails().forInference(model.name);
  if (ailments.hang) return;
  const error = errorOf(ailments);
  if (error !== null) return visit.writer(ailments.resetAfter).error(error);
  const key = visit.request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1")
    .update(key + HANDSHAKE)
    .digest("base64");
  const headers = ["Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept", accept];
  const protocols = (visit.request.headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  if (protocols.includes("realtime")) headers.push("Sec-WebSocket-Protocol", "realtime");
  serveJob(engine, visit, { id: visit.id, model: model.name, prompt: "" }, ailments, (_writer, _start, ended) => {
    const socket = caller.switch(headers);
    socket.once("close", () => ended(""));
    converse(socket, model.name);
    return () => socket.destroy();
  });
}

function converse(socket: Socket, model: string): void {
  const reader = new FrameReader();
  let message: Buffer[] = [];
  let kind: number = OPCODE.text;
  const send = (events: readonly object[]) => {
    for (const event of events) socket.write(writeFrame(OPCODE.text, Buffer.from(JSON.stringify(event))));
  };
  socket.on("error", () => {});
  socket.on("end", () => socket.end());
  socket.on("data", (bytes: Buffer) => {
    for (const { opcode, final, payload } of reader.push(bytes)) {
      if (opcode === OPCODE.ping) socket.write(writeFrame(OPCODE.pong, payload));
      else if (opcode === OPCODE.close) socket.end(writeFrame(OPCODE.close, payload));
      else if (opcode !== OPCODE.pong) {
        if (opcode !== OPCODE.continuation) kind = opcode;
        message.push(payload);
        if (!final) continue;
        const whole = Buffer.concat(message);
        message = [];
        if (kind === OPCODE.binary) socket.write(writeFrame(OPCODE.binary, whole));
        else send(repliesTo(whole.toString(), model));
      }
    }
  });
  send([sessionCreated(model)]);
  socket.resume();
}
