/** An answer's body, read as it comes. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #pieces: Buffer[] = [];

  constructor(response: Response) {
    if (response.body === null) throw new Error("the answer has no body");
    this.#reader = response.body.getReader();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  get text(): string {
    return this.bytes.toString();
  }

  /** Reads on until the text holds what is looked for; fails when it ends before. */
  async until(wanted: string | RegExp): Promise<string> {
    while (this.text.search(wanted) < 0) {
      if (!(await this.#next())) throw new Error(`the answer ended without ${wanted}: ${this.text}`);
    }
    return this.text;
  }

  /** Reads to the end. */
  async rest(): Promise<string> {
    while (await this.#next());
    return this.text;
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (value !== undefined) this.#pieces.push(Buffer.from(value));
    return !done;
  }
}
