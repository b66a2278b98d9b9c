/** Messages of one turn of the event loop, sent as one: under load there are many, and each sending has its price. */
export class Outbox<Message> {
  readonly #send: (messages: readonly Message[]) => void;
  #queued: Message[] = [];
  #soon: NodeJS.Immediate | null = null;

  constructor(send: (messages: readonly Message[]) => void) {
    this.#send = send;
  }

  post(message: Message): void {
    this.#queued.push(message);
    this.#soon ??= setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.#soon !== null) clearImmediate(this.#soon);
    this.#soon = null;
    if (this.#queued.length === 0) return;
    const messages = this.#queued;
    this.#queued = [];
    this.#send(messages);
  }

  /** Forgets what was not sent. */
  clear(): void {
    this.#queued = [];
  }
}
