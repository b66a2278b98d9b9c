import { createLog, type Log } from "@farmgate/wire";
import { cleanup } from "../../support/cleanup.ts";
import { until } from "../../support/until.ts";
import { Member, wants } from "../members.ts";
import { redisPlace } from "./place.ts";
import type { RedisServer } from "./redis-server.ts";

export const ONE = wants({ w: 1 });

/** Lines of a log by their level. */
export function heardLog() {
  const lines: string[] = [];
  const log = createLog("gateway", "silent");
  log.warn = (text: unknown) => void lines.push(`warn ${String(text)}`);
  log.info = (text: unknown) => void lines.push(`info ${String(text)}`);
  return { lines, log };
}

/** What this member is told once it is told anything by the hub. */
export async function firstWord(member: Member): Promise<string> {
  let kind = "alone";
  await until("claims are answered", async () => (kind = (await member.hub.claim(ONE)).kind) !== "alone");
  return kind;
}

/** Two that can claim; the first has the only place at w. */
export async function two(url: string, log?: Log): Promise<[Member, Member]> {
  const place = redisPlace(url, log === undefined ? {} : { log });
  const members: [Member, Member] = [new Member(place.hub("a")), new Member(place.hub("b"))];
  for (const { hub } of members) cleanup(() => hub.close());
  await Promise.all(members.map((member) => member.hub.start(member)));
  for (const member of members) await until("b sees a", () => member.hub.members().length === 2);
  await until("a has the place", async () => (await members[0].claim(ONE)).kind === "taken");
  await until("b can claim", async () => (await members[1].claim(ONE)).kind === "full");
  await until("b hears of it", () => members[1].hub.others.worker("w") === 1);
  return members;
}

/** Of the farm that was begun last. */
export async function keysOf(server: RedisServer, pattern: string): Promise<string[]> {
  const all = (await server.ask("KEYS", `farmgate:${pattern}`)) as string[];
  const number = (key: string) => Number(/\{test(\d+)\}/.exec(key)?.[1]);
  const last = Math.max(...all.map(number));
  return all.filter((key) => number(key) === last);
}
