// Reads HTTP/1.1 answers off one connection as cheaply as a load client may:
// where the head ends, how many SSE events came, where the answer ends. Bodies
// of the bench hold no CR, which is what makes the end of a chunked one visible.

const LF = 10;
const HEAD_END = "\r\n\r\n";
const CHUNKED_END = Buffer.from("0\r\n\r\n");

export interface ResponseEvents {
  onHead(status: number): void;
  /** `events` SSE events ended in the bytes that just came. */
  onEvents(events: number): void;
  onEnd(): void;
}

export class ResponseReader {
  readonly #to: ResponseEvents;
  #head = "";
  #inBody = false;
  #left = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(to: ResponseEvents) {
    this.#to = to;
  }

  push(bytes: Buffer): void {
    if (this.#inBody) {
      this.#body(bytes);
      return;
    }
    const before = this.#head.length;
    this.#head += bytes.toString("latin1");
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1) return;
    const head = this.#head.slice(0, end);
    this.#head = "";
    this.#inBody = true;
    this.#left = answerLength(head);
    this.#to.onHead(Number(head.slice(9, 12)));
    this.#body(bytes.subarray(end + HEAD_END.length - before));
  }

  #body(bytes: Buffer): void {
    if (this.#left === Infinity) {
      const events = countEvents(bytes, this.#tail[this.#tail.length - 1] === LF);
      if (events > 0) this.#to.onEvents(events);
      this.#tail = lastBytes(this.#tail, bytes);
      if (this.#tail.equals(CHUNKED_END)) this.#finish();
    } else {
      this.#left -= bytes.length;
      if (this.#left <= 0) this.#finish();
    }
  }

  #finish(): void {
    this.#inBody = false;
    this.#tail = Buffer.alloc(0);
    this.#to.onEnd();
  }
}

function answerLength(head: string): number {
  const declared = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head);
  return declared?.[1] === undefined ? Infinity : Number(declared[1]);
}

function countEvents(bytes: Buffer, afterLineFeed: boolean): number {
  let events = afterLineFeed && bytes[0] === LF ? 1 : 0;
  for (let at = bytes.indexOf("\n\n"); at !== -1; at = bytes.indexOf("\n\n", at + 2)) events++;
  return events;
}

function lastBytes(before: Buffer, bytes: Buffer): Buffer {
  const size = CHUNKED_END.length;
  if (bytes.length >= size) return bytes.subarray(bytes.length - size);
  return Buffer.concat([before, bytes]).subarray(-size);
}
