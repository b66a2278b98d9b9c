import { apiForm, FarmError, parseJson } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { spoiled } from "../support/spoiled.ts";
import { EVERY_WAY } from "./every-way.ts";

describe.each(EVERY_WAY)("a request, $from by $name", ({ from, body, put }) => {
  it("is put so or refused, whatever stands where something else was expected", () => {
    fc.assert(
      fc.property(spoiled(body), (asked) => {
        try {
          const translated = put(asked);
          expect(translated.body["model"]).toBe("worker-model");
          expect(faultsInBody(translated.body)).toEqual([]);
          if (translated.streams) expect(apiForm(from).streams).not.toBeNull();
          translated.stream();
        } catch (error) {
          if (!(error instanceof FarmError)) throw error;
          expect(["invalid_request", "not_supported"]).toContain(error.code);
          // It names the field, and does not repeat what may be long or private.
          expect(error.message.length).toBeLessThan(300);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** What no engine can read as a conversation, texts to embed or tools. */
function faultsInBody(body: Readonly<Record<string, unknown>>): string[] {
  const sent = parseJson(JSON.stringify(body)) as Record<string, unknown>;
  const faults: string[] = [];
  const expectEach = (name: string, isRight: (value: never) => boolean) => {
    const list = sent[name];
    if (list === undefined) return;
    if (!Array.isArray(list)) faults.push(`${name} is no list`);
    else for (const one of list) if (!isRight(one as never)) faults.push(`${name}: ${JSON.stringify(one)}`);
  };
  expectEach("messages", isMessage);
  expectEach("tools", (tool: { type?: unknown; function?: { name?: unknown } }) => {
    return tool.type === "function" && typeof tool.function?.name === "string";
  });
  expectEach("texts", (text) => typeof text === "string");
  return faults;
}

interface SentMessage {
  role?: unknown;
  content?: unknown;
  tool_calls?: { function?: { name?: unknown } }[];
}

function isMessage({ role, content, tool_calls: calls }: SentMessage): boolean {
  const hasContent =
    typeof content === "string" || Array.isArray(content) || (content === null && role === "assistant");
  const named = (calls ?? []).every((call) => typeof call.function?.name === "string");
  return typeof role === "string" && role !== "" && hasContent && named;
}
