import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responsesToChat } from "../../../src/translate/responses/responses-to-chat.ts";
import { type Said, chatStream, somethingSaid, wholeChat } from "../../support/chat-stream.ts";
import { type StreamEvent, faultsOf } from "./faults.ts";
import { AT, CONTEXT, clientOf, dataOf, someCuts, tell } from "../../support/translate.ts";

const TOOLS = ["look", "find"].map((name) => ({ type: "function", name, parameters: {}, strict: null }));
const someRequest = fc.record({
  summary: fc.constantFrom(undefined, "auto"),
  stream: fc.constant(true),
  custom: fc.boolean(),
});

function translated({ summary, custom }: { summary: string | undefined; custom: boolean }) {
  const tools = custom ? [TOOLS[0], { type: "custom", name: "find" }] : TOOLS;
  return responsesToChat({ model: "m", input: "Hi", stream: true, tools, reasoning: { summary } }, CONTEXT);
}

describe("a chat stream told as a response", () => {
  it("is legal, and comes to the same for OpenAI's client as the whole answer, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(somethingSaid, someRequest, someCuts, async (said, request, cuts) => {
        const translation = translated(request);
        const { text, problem } = tell("responses", translation, chatStream(said), cuts);
        expect(problem).toBeNull();
        expect(faultsOf(dataOf(text) as unknown as StreamEvent[])).toEqual([]);
        const whole = translation.whole(wholeChat(said), AT);
        const seen = await clientOf(text).responses.stream({ model: "m", input: "Hi" }).finalResponse();
        expect(JSON.parse(JSON.stringify(seen))).toMatchObject(JSON.parse(JSON.stringify(whole)));
        expect(seen.output_text).toBe(said.text.join(""));
      }),
      { numRuns: 60 },
    );
  });

  it("tells the deltas that the SDK gathers: they come to the items that end them", async () => {
    await fc.assert(
      fc.asyncProperty(somethingSaid, someRequest, async (said, request) => {
        const { text } = tell("responses", translated(request), chatStream(said));
        const gathered = new Map<string, string>();
        for await (const event of await clientOf(text).responses.create({ model: "m", input: "Hi", stream: true })) {
          if ("delta" in event && "item_id" in event && typeof event.delta === "string") {
            gathered.set(event.item_id, (gathered.get(event.item_id) ?? "") + event.delta);
          }
          if (event.type !== "response.output_item.done") continue;
          const { item } = event;
          const told = JSON.stringify([gathered.get(String(item.id)) ?? ""]).slice(1, -1);
          expect(JSON.stringify(item)).toContain(told);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("says the same as a stream when the worker answered whole", () => {
    fc.assert(
      fc.property(somethingSaid, someRequest, (said, request) => {
        const translation = translated(request);
        const events = dataOf(translation.wholeAsStream(wholeChat(said), AT)) as unknown as StreamEvent[];
        expect(faultsOf(events)).toEqual([]);
        expect(events.at(-1)?.response).toEqual(JSON.parse(JSON.stringify(translation.whole(wholeChat(said), AT))));
      }),
    );
  });

  it("invents nothing when the worker's stream is cut off anywhere", () => {
    fc.assert(
      fc.property(somethingSaid, someRequest, fc.nat(), (said, request, cut) => {
        const bytes = Buffer.from(chatStream(said));
        const finish = bytes.indexOf('"finish_reason":"');
        const stream = bytes.subarray(0, cut % finish).toString();
        const { text, problem } = tell("responses", translated(request), stream);
        expect(problem).toMatch(/ended before its answer was complete/);
        const types = dataOf(text).map((event) => String(event["type"]));
        expect(types.filter((type) => /completed|incomplete|failed/.test(type))).toEqual([]);
        expectPrefix(text, said, request);
      }),
    );
  });
});

/** What was told of a broken stream is the beginning of what the whole one tells. */
function expectPrefix(text: string, said: Said, request: { summary: string | undefined; custom: boolean }): void {
  expect(tell("responses", translated(request), chatStream(said)).text.startsWith(text)).toBe(true);
}
