import { type AddressInfo, createServer, type Socket } from "node:net";
import { cleanup } from "./cleanup.ts";

/** One inference request as it came. */
interface MlxRequest {
  /** The head's lines, lower case. */
  head: string;
  body: string;
}

/**
 * Speaks as `mlx_lm.server` does: HTTP/1.0, a connection for each answer, no body without a Content-Length, and no
 * answer at all to a request without `messages`.
 */
export async function mlxServer(): Promise<{ url: string; asked: MlxRequest[] }> {
  const asked: MlxRequest[] = [];
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end).toLowerCase();
      const body = text.slice(end + 4);
      if (head.startsWith("get ")) return answerGet(socket, head);
      const length = /content-length: (\d+)/.exec(head)?.[1];
      if (length === undefined) return end10(socket, 411, { error: "Content-Length header is required" });
      if (body.length < Number(length)) return;
      asked.push({ head, body });
      if (!body.includes('"messages"')) return socket.destroy();
      end10(socket, 200, {
        id: "1",
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "hi" } }],
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function answerGet(socket: Socket, head: string): void {
  if (head.startsWith("get /v1/models ")) return end10(socket, 200, { object: "list", data: [{ id: "m" }] });
  end10(socket, head.startsWith("get /health ") ? 200 : 404, { status: "ok" });
}

function end10(socket: Socket, status: number, body: object): void {
  const text = JSON.stringify(body);
  const head = `HTTP/1.0 ${status} X\r\nServer: BaseHTTP/0.6 Python/3.12\r\nContent-Type: application/json\r\n\r\n`;
  socket.end(head + text);
}
