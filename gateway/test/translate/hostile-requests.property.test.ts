import { type Api, apiForm, FarmError, parseJson } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Translated } from "../../src/translate/translation.ts";
import { spoiled } from "../support/spoiled.ts";
import { EVERY_WAY } from "./every-way.ts";

describe.each(EVERY_WAY)("a request, $from by $name", ({ from, body, put }) => {
  it("is put so or refused, whatever stands where something else was expected", () => {
    fc.assert(
      fc.property(spoiled(body), (asked) => {
        expect(faultsOf(from, () => put(asked))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

function faultsOf(from: Api, put: () => Translated): string[] {
  try {
    const translated = put();
    translated.stream();
    const streams = translated.streams && apiForm(from).streams === null ? ["streams what does not stream"] : [];
    return [...streams, ...faultsInBody(translated.body)];
  } catch (error) {
    if (!(error instanceof FarmError)) throw error;
    const isMeant = error.code === "invalid_request" || error.code === "not_supported";
    // It names the field, and does not repeat what may be long or private.
    return isMeant && error.message.length < 300 ? [] : [`${error.code}: ${error.message}`];
  }
}

/** What no engine can read as a conversation, texts to embed or tools. */
function faultsInBody(body: Readonly<Record<string, unknown>>): string[] {
  const sent = parseJson(JSON.stringify(body)) as Record<string, unknown>;
  const faults: string[] = sent["model"] === "worker-model" ? [] : ["another model"];
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
