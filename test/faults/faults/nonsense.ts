import { allOf, type Fault, type Scene } from "./fault.ts";

const STATUS_WORDS: Readonly<Record<number, string>> = {
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Answers that are no HTTP, or say something else than what they are. */
export const nonsense: readonly Fault[] = [
  {
    name: "garbage",
    phase: "head",
    answer: ({ socket, random }) => {
      socket.end(Buffer.from(Array.from({ length: 400 }, () => Math.floor(random() * 256))));
    },
  },
  {
    name: "text without a head",
    phase: "head",
    answer: ({ socket }) => void socket.end("hello, who is there?\r\n\r\n"),
  },
  { name: "endless head", phase: "head", answer: ({ socket }) => endlessHead(socket) },
  {
    name: "length too long",
    phase: "end",
    answer: (scene) => void scene.socket.end(withLength(scene, 40)),
  },
  {
    name: "length too short",
    phase: "end",
    // By its own word the answer ends there, and what follows belongs to nobody.
    asSent: (wanted) => wanted.subarray(0, -40),
    answer: (scene) => void scene.socket.write(withLength(scene, -40)),
  },
  {
    name: "broken chunk size",
    phase: "mid stream",
    answer: ({ socket, head, chunks, asked }) => {
      const plain = head.toString().replace(/content-length: \d+/, "transfer-encoding: chunked");
      if (!asked.streamed) return void socket.end(`${plain}zz\r\n{"choices":`);
      socket.write(Buffer.concat([head, ...chunks.slice(0, 3), Buffer.from("zz\r\nwhat\r\n"), ...chunks.slice(3)]));
    },
  },
  {
    name: "an answer twice",
    phase: "end",
    harmless: true,
    answer: (scene) => void scene.socket.write(Buffer.concat([allOf(scene), allOf(scene)])),
  },
  ...[500, 503, 429].map(
    (status): Fault => ({
      name: `answers ${status}`,
      phase: "head",
      answer: ({ socket, random }) => {
        const page = random() < 0.5 ? '{"error":{"message":"not now"}}' : "<html>not now</html>";
        const head = `HTTP/1.1 ${status} ${STATUS_WORDS[status]}\r\ncontent-length: ${page.length}\r\n\r\n`;
        socket.write(head + page);
      },
    }),
  ),
];

/** The same body under a content-length that is wrong by this much. */
function withLength({ asked, head, chunks }: Scene, by: number): Buffer {
  const body = asked.streamed ? unchunked(chunks) : Buffer.concat(chunks);
  const type = /content-type: [^\r]+/.exec(head.toString())?.[0] ?? "";
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\n${type}\r\ncontent-length: ${body.length + by}\r\n\r\n`),
    body,
  ]);
}

function unchunked(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat(chunks.map((chunk) => chunk.subarray(chunk.indexOf("\r\n") + 2, -2)));
}

function endlessHead(socket: Scene["socket"]): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const field = Buffer.from(`x-more: ${"m".repeat(1_000)}\r\n`.repeat(16));
  for (let n = 0; n < 40; n += 1) socket.write(field);
}
