import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What an engine wrote down of itself. `at`: milliseconds since the epoch; `term`: it was asked to end. */
export interface JournalLine {
  at: number;
  what: "in" | "ready" | "term" | "out";
  model: string;
  pid: number;
}

/**
 * Writes `engine.mjs` into the folder: `node engine.mjs MODEL PORT [MODE]` is a small engine in one process. It reads
 * the number of milliseconds that it loads and that it goes on living after a SIGTERM from `load-ms` and `linger-ms`
 * as it starts, streams a token every 20 ms, and writes down when it comes, is ready, is asked to end and has gone.
 * MODE: `dies-unready` and `dies-ready` end it by itself, `forks` has a child outside of its group do the work.
 */
export async function writeJournalEngine(folder: string) {
  const journal = join(folder, "journal.log");
  await writeFile(journal, "");
  await writeFile(join(folder, "load-ms"), "200");
  await writeFile(join(folder, "linger-ms"), "0");
  const engine = join(folder, "engine.mjs");
  await writeFile(engine, ENGINE);
  return {
    command: `'${process.execPath}' '${engine}'`,
    set: (what: "load-ms" | "linger-ms", ms: number) => writeFile(join(folder, what), String(ms)),
    async lines(): Promise<JournalLine[]> {
      const written = (await readFile(journal, "utf8")).split("\n").filter((line) => line !== "");
      return written.map((line) => {
        const [at, what, model = "", pid] = line.split(" ");
        return { at: Number(at), what: what as JournalLine["what"], model, pid: Number(pid) };
      });
    },
  };
}

const ENGINE = `
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const [model, port, mode = ""] = process.argv.slice(2);
const file = (name) => new URL(name, import.meta.url);
const ms = (name) => Number(readFileSync(file(name), "utf8"));
if (mode === "forks") {
  spawn(process.execPath, [process.argv[1], model, port], { detached: true, stdio: "ignore" }).unref();
  setInterval(() => {}, 1_000);
} else serve();

function serve() {
  const note = (what) => appendFileSync(file("journal.log"), [Date.now(), what, model, process.pid].join(" ") + "\\n");
  const lingerMs = ms("linger-ms");
  let ready = false;
  note("in");
  process.on("exit", () => note("out"));
  process.on("SIGTERM", () => {
    note("term");
    server.close();
    setTimeout(() => process.exit(0), lingerMs);
  });
  setTimeout(() => {
    if (mode === "dies-unready") process.exit(3);
    ready = true;
    note("ready");
    if (mode === "dies-ready") setTimeout(() => process.exit(4), 100);
  }, ms("load-ms"));
  const server = createServer(async (request, response) => {
    if (!ready) return void response.writeHead(503).end();
    if (request.method === "GET") return void response.end(JSON.stringify({ data: [{ id: model }] }));
    let text = "";
    for await (const piece of request) text += piece;
    const asked = JSON.parse(text);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const part = (delta, finish_reason) =>
      response.write("data: " + JSON.stringify({ model, choices: [{ index: 0, delta, finish_reason }] }) + "\\n\\n");
    for (let i = 0; i < asked.max_tokens && !response.destroyed; i += 1) {
      part({ content: "word " }, null);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    part({}, "stop");
    response.end("data: [DONE]\\n\\n");
  });
  server.listen(Number(port), "127.0.0.1");
}
`;
