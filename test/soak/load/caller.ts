// One caller of the soak: sends a request, leaves or reads slowly when it is to, and says what came.
import type { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Asked, ask } from "../../harness/ask.ts";
import { RealtimeClient } from "../../harness/web-socket.ts";
import type { Ask } from "./asks.ts";
import type { Came, Verdict } from "./verdict.ts";
import { verdictOf } from "./verdict.ts";

/** Longer than the gateway of the soak lets anything be silent or wait. */
const PATIENCE_MS = 90_000;
const NEVER_ENDED: Verdict = { end: "lost", why: `not ended within ${PATIENCE_MS / 1_000} s` };
/** A slow reader's pauses, and how long it reads between two. */
const PAUSE_MS = 300;
const READ_MS = 20;

/** Never rejects. `about`: the request's id at the gateway, for looking it up. */
export async function call(
  url: string,
  asked: Ask,
  agent: Agent | false,
): Promise<{ verdict: Verdict; about: string }> {
  if (asked.form === "realtime") return { verdict: await converse(url, asked), about: "" };
  const headers = asked.form === "anthropic-stream" ? { "anthropic-version": "2023-06-01" } : {};
  const under = ask(`${url}${asked.path}`, asked.body, headers, agent);
  let left = false;
  let isOver = false;
  const leave = () => {
    left = true;
    under.leave();
  };
  const leaving = asked.leaveAfterMs === null ? null : setTimeout(leave, asked.leaveAfterMs);
  const patience = setTimeout(() => {
    isOver = true;
    under.leave();
  }, PATIENCE_MS);
  if (asked.readsSlowly) void readSlowly(under);
  const answer = await under.answer;
  if (leaving !== null) clearTimeout(leaving);
  clearTimeout(patience);
  const { status, body, complete } = answer;
  const came: Came = { status, body, complete, left: left && !complete };
  const about = String(answer.headers["x-request-id"] ?? "");
  return { verdict: isOver && !complete ? NEVER_ENDED : verdictOf(asked, came), about };
}

async function readSlowly(under: Asked): Promise<void> {
  await Promise.race([under.firstByte, under.answer]);
  const incoming = under.head();
  if (incoming === null) return;
  for (let isOver = false; !isOver; isOver = incoming.destroyed || incoming.complete) {
    incoming.pause();
    await sleep(PAUSE_MS);
    incoming.resume();
    await sleep(READ_MS);
  }
}

/** A session: it greets, its words come back, it ends. */
async function converse(url: string, { path, expected }: Ask): Promise<Verdict> {
  const client = new RealtimeClient(`${url}${path}`);
  try {
    await client.opened();
    client.send(expected);
    await client.got((text) => text.includes(expected), "the echo");
    client.close();
    await client.closed;
    return { end: "whole" };
  } catch (error) {
    client.close();
    return { end: "lost", why: (error as Error).message };
  }
}
