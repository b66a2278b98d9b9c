import { type Api, BodyBytes, foundIn, scannerFor } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { Affinity } from "../../src/routing/affinity.ts";
import { type PrefixHashes, prefixHashes } from "../../src/routing/prefix-hashes.ts";

interface Message {
  role: string;
  content: string;
}

const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string): Message => ({ role: "assistant", content });

function hashesOf(
  messages: readonly Message[],
  more: { key?: string; caller?: string; tail?: object } = {},
): PrefixHashes {
  return hashesIn("chat", { messages, model: "m", ...more.tail }, more);
}

function hashesIn(api: Api, body: object, { key = "m", caller = "" } = {}): PrefixHashes {
  const bytes = Buffer.from(JSON.stringify(body));
  return prefixHashes(api, new BodyBytes([bytes]), found(api, bytes), { key, caller });
}

function found(api: Api, bytes: Buffer) {
  const scanner = scannerFor(api, []);
  scanner.push(bytes);
  return foundIn(scanner.finish());
}

const opening = [{ role: "system", content: "be brief" }, user("hello")];
const second = [...opening, answer("hi"), user("how are you?")];
const third = [...second, answer("fine"), answer("really"), user("good")];

describe("a conversation", () => {
  it("is found at each later turn, at the worker that answered last", () => {
    const affinity = new Affinity();
    expect(affinity.find(hashesOf(second))).toBeNull();
    affinity.answered(hashesOf(opening), "a");
    expect(affinity.find(hashesOf(second))).toBe("a");
    affinity.answered(hashesOf(second), "b");
    expect(affinity.find(hashesOf(third))).toBe("b");
    expect(affinity.find(hashesOf(second))).toBe("a");
  });

  it("is found by an older turn when the latest is not known", () => {
    const affinity = new Affinity();
    affinity.answered(hashesOf(opening), "a");
    expect(affinity.find(hashesOf(third))).toBe("a");
  });

  it("is another one with another start, model, caller or answer on the way", () => {
    const affinity = new Affinity();
    affinity.answered(hashesOf(second), "a");
    const changed = third.map((message, i) => (i === 2 ? answer("no") : message));
    expect(affinity.find(hashesOf(third))).toBe("a");
    expect(affinity.find(hashesOf(changed))).toBeNull();
    expect(affinity.find(hashesOf([user("x"), ...third]))).toBeNull();
    expect(affinity.find(hashesOf(third, { key: "other" }))).toBeNull();
    expect(affinity.find(hashesOf(third, { caller: "alice" }))).toBeNull();
  });

  it("does not depend on what else the body says", () => {
    const affinity = new Affinity();
    affinity.answered(hashesOf(opening), "a");
    expect(affinity.find(hashesOf(second, { tail: { temperature: 0.5, stream: true } }))).toBe("a");
  });

  it("is another one with other instructions, wherever those stand in the body", () => {
    const affinity = new Affinity();
    affinity.answered(hashesIn("messages", { system: "be brief", messages: [user("hello")], model: "m" }), "a");
    const messages = [user("hello"), answer("hi"), user("more")];
    expect(affinity.find(hashesIn("messages", { model: "m", messages, system: "be brief" }))).toBe("a");
    expect(affinity.find(hashesIn("messages", { model: "m", messages, system: "be long" }))).toBeNull();
    expect(affinity.find(hashesIn("messages", { model: "m", messages }))).toBeNull();
  });

  it("of the Responses API goes on behind a model's own items, and a list of texts is none", () => {
    const affinity = new Affinity();
    affinity.answered(hashesIn("responses", { instructions: "be brief", input: [user("hello")] }), "a");
    const call = [
      { type: "function_call", name: "f", arguments: "{}" },
      { type: "function_call_output", output: "1" },
    ];
    const input = [user("hello"), ...call];
    expect(affinity.find(hashesIn("responses", { input, instructions: "be brief" }))).toBe("a");
    expect(hashesIn("embeddings", { input: ["a", "b"] }).whole).toBeNull();
    expect(hashesIn("responses", { input: "hello" }).whole).toBeNull();
  });

  it("that carries no earlier answer asks for nobody", () => {
    expect(hashesOf(opening).earlier).toEqual([]);
    expect(hashesOf([answer("I begin"), user("hello")]).earlier).toEqual([]);
    expect(hashesOf([])).toEqual({ whole: null, earlier: [] });
    const affinity = new Affinity();
    affinity.answered(hashesOf([]), "a");
    affinity.answered(hashesOf(opening), "a");
    expect(affinity.find(hashesOf(opening))).toBeNull();
  });
});

it("forgets the oldest conversations instead of growing", () => {
  const affinity = new Affinity();
  affinity.answered(hashesOf(opening), "a");
  for (let i = 0; i < 20_000; i += 1) affinity.answered({ whole: `other ${i}`, earlier: [] }, "b");
  expect(affinity.find(hashesOf(second))).toBeNull();
});

it("hashes a long conversation in a small part of a millisecond's order", () => {
  const turns = Array.from({ length: 50 }, (_, i) => [
    user(`${i}${"x".repeat(2_200)}`),
    answer("y".repeat(2_200)),
  ]).flat();
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [...turns, user("next")] }));
  const scan = found("chat", body);
  const bytes = new BodyBytes([body]);
  const times = Array.from({ length: 100 }, () => {
    const start = performance.now();
    prefixHashes("chat", bytes, scan, { key: "m", caller: "alice" });
    return performance.now() - start;
  });
  // The aim is 0.3 ms for 220 KB; the ceiling leaves room for a busy machine.
  expect(times.sort((a, b) => a - b)[50]).toBeLessThan(5);
});
