import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, type FarmError, originForm, pathOf } from "@farmgate/shared";
import { endConnections } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import { inferenceBody } from "./serve/agent-paths.ts";
import { buildControl, type ControlContext } from "./serve/control.ts";
import { Inference, type InferenceContext } from "./serve/inference.ts";

/** Above what proxies keep idle connections for, so that they close first. Milliseconds. */
const KEEP_ALIVE_MS = 75_000;

/** Above what a gateway lets through, which adds some of its own. */
const HEADER_BYTES = 48 * 1_024;

/** The agent's listener: inference on plain node:http, everything else by fastify, both on one port. */
export class AgentServer {
  readonly #app: FastifyInstance;
  readonly #server: Server;
  readonly #inference: Inference;
  readonly #clock: Clock;

  constructor(context: ControlContext & InferenceContext) {
    const inference = new Inference(context);
    this.#inference = inference;
    this.#clock = context.clock;
    let server: Server | null = null;
    this.#app = buildControl(context, (control) => {
      const handle = (request: IncomingMessage, response: ServerResponse) => {
        request.url = originForm(request.url ?? "/");
        if (inferenceBody(pathOf(request.url)) === null) control(request, response);
        else void inference.handle(request, response);
      };
      server = createServer({ maxHeaderSize: HEADER_BYTES }, handle);
      // An expectation that means nothing here is no reason to refuse.
      server.on("checkExpectation", handle);
      server.keepAliveTimeout = KEEP_ALIVE_MS;
      server.headersTimeout = KEEP_ALIVE_MS + 5_000;
      // A slow upload is no attack here; the body limit bounds it.
      server.requestTimeout = 0;
      return server;
    });
    if (server === null) throw new Error("fastify made no server");
    this.#server = server;
  }

  /** Listens; port 0 takes a free one. Rejects with the system's code when the address cannot be had. */
  async listen(host: string, port: number): Promise<{ url: string; port: number }> {
    await this.#app.ready();
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    const address = this.#server.address() as AddressInfo;
    const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return { url: `http://${shown}:${address.port}`, port: address.port };
  }

  /** No new connections; requests still on their way are told why, idle connections are closed, the others stay. */
  stopAccepting(why: FarmError): void {
    this.#server.close();
    this.#inference.turnAway(why);
    this.#server.closeIdleConnections();
  }

  /** Cuts what is left, once callers had time to read the ends of their answers. */
  async close(): Promise<void> {
    await endConnections(this.#server, this.#clock);
    await this.#app.close();
  }
}
