/** What a server wrote on one connection. */
export interface StrictAnswers {
  statuses: number[];
  /** The last one is not whole. */
  cut: boolean;
}

const HEAD = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e\x80-\xff]*$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Reads bytes as answers of HTTP/1.1, one behind the other, without any leniency; throws with what is wrong. A connection
 * that turned into a WebSocket, and an answer that ends with its connection, end the reading. `mayBeHead`: the answers
 * may be to HEAD, so that a body may be announced that is not there.
 */
export function readStrictly(bytes: Buffer, mayBeHead: boolean): StrictAnswers {
  const statuses: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) {
      const start = bytes.toString("latin1", at, at + 9);
      if (!"HTTP/1.1 ".startsWith(start.slice(0, 9))) throw new Error(`no answer begins so: ${JSON.stringify(start)}`);
      return { statuses, cut: true };
    }
    const [first = "", ...headers] = bytes.toString("latin1", at, end).split("\r\n");
    const status = Number(HEAD.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(first.slice(0, 200))}`);
    for (const line of headers) {
      if (!HEADER.test(line)) throw new Error(`no header: ${JSON.stringify(line.slice(0, 200))}`);
    }
    statuses.push(status);
    const value = (name: string) => headers.filter((line) => line.toLowerCase().startsWith(`${name}:`));
    const lengths = value("content-length");
    const chunked = value("transfer-encoding").length > 0;
    if (lengths.length > 1 || (lengths.length > 0 && chunked)) throw new Error("two lengths of one answer");
    at = end + 4;
    if (status === 101) return { statuses, cut: false };
    if (status < 200 || status === 204 || status === 304) continue;
    if (mayBeHead && (at === bytes.length || bytes.toString("latin1", at, at + 5) === "HTTP/")) continue;
    if (lengths.length > 0) at += Number(lengths[0]?.slice("content-length:".length));
    else if (chunked) at = endOfChunks(bytes, at);
    else return { statuses, cut: false };
  }
  return { statuses, cut: at > bytes.length };
}

/** Behind the last chunk; behind all bytes where they are cut. */
function endOfChunks(bytes: Buffer, from: number): number {
  for (let at = from; ; ) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return bytes.length + 1;
    const size = bytes.toString("latin1", at, end);
    if (!/^[0-9a-f]{1,8}$/i.test(size)) throw new Error(`no chunk: ${JSON.stringify(size.slice(0, 100))}`);
    at = end + 2 + Number.parseInt(size, 16) + 2;
    if (at > bytes.length) return at;
    if (bytes.toString("latin1", at - 2, at) !== "\r\n") throw new Error("a chunk without its end");
    if (size === "0") return at;
  }
}
