// Cuts a byte stream into HTTP/1.1 requests, as far as the stub needs them: the
// request line and the first bytes of the body. Bodies are skipped, not kept.

const HEAD_END = "\r\n\r\n";
const CHUNKED_END = "0\r\n\r\n";

export type OnRequest = (requestLine: string, bodyHead: string) => void;

export class RequestReader {
  readonly #keep: number;
  readonly #onRequest: OnRequest;
  #head = "";
  #requestLine = "";
  #bodyHead = "";
  /** Bytes of the body still to come; -1 before a head is complete, Infinity for a chunked body. */
  #left = -1;
  #tail = "";

  constructor(keep: number, onRequest: OnRequest) {
    this.#keep = keep;
    this.#onRequest = onRequest;
  }

  push(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) rest = this.#left === -1 ? this.#readHead(rest) : this.#readBody(rest);
  }

  #readHead(bytes: Buffer): Buffer {
    const before = this.#head.length;
    this.#head += bytes.toString("latin1");
    const end = this.#head.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length));
    if (end === -1) return bytes.subarray(bytes.length);
    const head = this.#head.slice(0, end);
    this.#head = "";
    this.#requestLine = head.slice(0, head.indexOf("\r\n"));
    this.#left = bodyLength(head);
    if (this.#left === 0) this.#finish();
    return bytes.subarray(end + HEAD_END.length - before);
  }

  #readBody(bytes: Buffer): Buffer {
    const mine = bytes.subarray(0, Math.min(bytes.length, this.#left));
    if (this.#bodyHead.length < this.#keep) {
      this.#bodyHead += mine.toString("latin1", 0, this.#keep - this.#bodyHead.length);
    }
    if (this.#left === Infinity) {
      this.#tail = (this.#tail + mine.toString("latin1", Math.max(0, mine.length - CHUNKED_END.length))).slice(
        -CHUNKED_END.length,
      );
      if (this.#tail === CHUNKED_END) this.#finish();
    } else {
      this.#left -= mine.length;
      if (this.#left === 0) this.#finish();
    }
    return bytes.subarray(mine.length);
  }

  #finish(): void {
    const requestLine = this.#requestLine;
    const bodyHead = this.#bodyHead;
    this.#left = -1;
    this.#tail = "";
    this.#bodyHead = "";
    this.#onRequest(requestLine, bodyHead);
  }
}

function bodyLength(head: string): number {
  const declared = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head);
  if (declared?.[1] !== undefined) return Number(declared[1]);
  return /\r\ntransfer-encoding:[ \t]*chunked/i.test(head) ? Infinity : 0;
}
