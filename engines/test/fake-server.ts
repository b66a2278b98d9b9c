import { readFileSync } from "node:fs";
import type { GetAnswer } from "@farmgate/shared";
import type { Get } from "../src/engine-poll.ts";

interface Told {
  status: number;
  /** Text as it is, all else as JSON. */
  body: unknown;
}

/** A server as its answers to GETs, from `fixtures/<engine>/<name>.json`. */
interface Fixture {
  /** Its `Server` header; empty: none. */
  server: string;
  answers: Record<string, Told>;
  /** What it answers to any other path. */
  elsewhere: Told;
}

/** `asked`: every path that was got, in order. */
export interface FakeServer {
  get: Get;
  asked: string[];
}

export function fakeServer(name: string): FakeServer {
  const { server, answers, elsewhere } = fixture(name);
  const asked: string[] = [];
  const get = (path: string): Promise<GetAnswer> => {
    asked.push(path);
    const { status, body } = Object.hasOwn(answers, path) ? (answers[path] ?? elsewhere) : elsewhere;
    return Promise.resolve({ kind: "answer", status, server, body: asText(body) });
  };
  return { get, asked };
}

function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8")) as Fixture;
}

function asText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
