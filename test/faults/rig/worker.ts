import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Clock } from "@farmgate/shared";
import { answerBytes, chanceOf, readAsked } from "../answers.ts";
import { allOf, type Fault, type Scene } from "../faults/fault.ts";
import { Blackhole } from "./blackhole.ts";
import { type Arrived, onRequests } from "./requests.ts";

/** An engine on a bare socket with these models, that misbehaves as it is told. */
export class FaultyWorker {
  readonly #models: readonly string[];
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  /** How often each request was put to it, by nonce. */
  readonly asked = new Map<string, number>();
  #server: Server;
  #port = 0;
  #fault: Fault | null = null;
  #blackhole: Blackhole | null = null;

  constructor(models: readonly string[], clock: Clock) {
    this.#models = models;
    this.#clock = clock;
    this.#server = this.#create();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(port: number = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** From now on it misbehaves so; null: no more. */
  async set(fault: Fault | null): Promise<void> {
    const was = this.#fault?.worker;
    if (was === "refuse" || was === "blackhole") {
      await this.#blackhole?.end();
      this.#blackhole = null;
      this.#server = this.#create();
      await this.listen(this.#port);
    }
    this.#fault = fault;
    if (fault?.worker === undefined) return;
    if (fault.worker !== "hang up") this.#server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    if (fault.worker === "blackhole") this.#blackhole = await Blackhole.at(this.#port);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await this.#blackhole?.end();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #create(): Server {
    return createServer({ noDelay: true, allowHalfOpen: false }, (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
      if (this.#fault?.worker === "hang up") return void socket.resetAndDestroy();
      onRequests(socket, (request) => this.#take(socket, request));
    });
  }

  #take(socket: Socket, { method, path, body }: Arrived): void {
    const asked = method === "POST" ? readAsked(body) : null;
    if (asked === null) return this.#list(socket, path);
    this.asked.set(asked.nonce, 1 + (this.asked.get(asked.nonce) ?? 0));
    const scene: Scene = { socket, asked, ...answerBytes(asked), random: chanceOf(asked), clock: this.#clock };
    if (!this.#models.includes(asked.model)) return unknownModel(socket, asked.model);
    const answer = this.#fault?.answer;
    if (answer === undefined) socket.write(allOf(scene));
    else answer(scene);
  }

  #list(socket: Socket, path: string): void {
    const data = this.#models.map((id) => ({ id, object: "model", owned_by: "vllm", root: id }));
    const found = path === "/v1/models" || path === "/health";
    const body = JSON.stringify(path === "/v1/models" ? { object: "list", data } : {});
    const status = found ? "200 OK" : "404 Not Found";
    socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }
}

function unknownModel(socket: Socket, model: string): void {
  const body = JSON.stringify({ error: { message: `The model \`${model}\` does not exist.`, code: 404 } });
  socket.write(
    `HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
