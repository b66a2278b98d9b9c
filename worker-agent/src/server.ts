import { type Clock, type FarmError, HEADER, pathOf } from "@farmgate/shared";
import { FrontServer, roomForCallers, type TlsPair } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import { askedApi } from "./serve/agent-paths.ts";
import { requestIdOf } from "./serve/asked.ts";
import { type ControlContext, createControl } from "./serve/control.ts";
import { BODY_LIMIT, Inference, type InferenceContext, STALL_MS } from "./serve/inference.ts";

/** Above what a gateway lets through, which adds some of its own. */
const HEADER_BYTES = 48 * 1_024;

type ServerContext = Omit<ControlContext, "stopping"> & InferenceContext;

/** The agent's listener: inference straight from the server, everything else by fastify, both on one port. */
export class AgentServer {
  readonly #server: FrontServer;
  readonly #context: ServerContext;
  readonly #inference: Inference;
  readonly #clock: Clock;
  #app: FastifyInstance | null = null;
  #stopping: FarmError | null = null;

  constructor(context: ServerContext, tls: TlsPair | null) {
    this.#context = context;
    this.#clock = context.clock;
    const connections = roomForCallers();
    const limits = {
      body: () => BODY_LIMIT,
      headers: HEADER_BYTES,
      connections: () => connections,
      stallMs: () => STALL_MS,
    };
    this.#server = new FrontServer(limits, context.clock, tls);
    this.#inference = new Inference(context);
  }

  /** Listens; port 0 takes a free one. Rejects with the system's code when the address cannot be had. */
  async listen(at: { host: string; port: number }): Promise<{ url: string; port: number }> {
    this.#app = await createControl({ ...this.#context, stopping: () => this.#stopping }, (control) =>
      this.#server.onRequest((request, response) => {
        if (askedApi(pathOf(request.url ?? "")) !== null) {
          void this.#inference.handle(request, response);
          return;
        }
        response.setHeader(HEADER.requestId, requestIdOf(request.headers));
        control(request, response);
      }),
    );
    this.#server.onWebSocket((socket) => void this.#inference.handle(socket.request, socket.response, socket));
    return this.#server.listenOn(at);
  }

  /** Shows new connections a renewed certificate. Throws when it cannot be used; then the old one stays. */
  renew(pair: TlsPair): void {
    this.#server.renew(pair);
  }

  /** No new connections; requests still on their way are told why, idle connections are closed, the others stay. */
  stopAccepting(why: FarmError): void {
    this.#stopping = why;
    this.#server.close();
    this.#inference.turnAway(why);
  }

  /** Lets callers read what was answered, for `ms` milliseconds at most; then cuts what is left. */
  async close(ms: number): Promise<void> {
    await this.#server.end(ms, this.#clock);
    await this.#app?.close();
  }
}
