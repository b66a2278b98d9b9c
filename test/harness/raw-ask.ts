import { type Agent, type IncomingHttpHeaders, request } from "node:http";

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Every value of a header, one for each time that it was sent. */
  all(name: string): string[];
  body: string;
}

/** One request with any method and headers (`host` too), on a connection of its own or of `agent`; the answer's head as it came. */
export function rawAsk(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: string,
  agent: Agent | false = false,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += piece));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers: joined, rawHeaders } = response;
        const all = (name: string) =>
          rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
        resolve({ status, headers: joined, all, body: text });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
