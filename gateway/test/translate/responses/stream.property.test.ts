import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responsesToChat } from "../../../src/translate/responses/responses-to-chat.ts";
import { type Said, chatStream, somethingSaid, wholeChat } from "../../support/chat-stream.ts";
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

interface StreamEvent {
  type: string;
  sequence_number: number;
  output_index: number;
  item: { id: string; type: string; status: string };
  item_id: string;
  response: { status: string };
}

/** The grammar of a response's events: what may follow what. Throws at the first that may not. */
function expectLegal(events: readonly StreamEvent[]): void {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
  expect(events.slice(0, 2).map((event) => event.type)).toEqual(["response.created", "response.in_progress"]);
  const open = new Map<number, string>();
  let added = 0;
  for (const event of events.slice(2, -1)) {
    if (event.type === "response.output_item.added") {
      expect(event.output_index).toBe(added);
      expect(event.item.status).toBe("in_progress");
      open.set(added, event.item.id);
      added += 1;
    } else if (event.type === "response.output_item.done") {
      expect(open.get(event.output_index)).toBe(event.item.id);
      open.delete(event.output_index);
    } else expect(open.get(event.output_index)).toBe(event.item_id);
  }
  expect(open.size).toBe(0);
  const last = events.at(-1);
  expect(last?.type).toBe(`response.${last?.response.status}`);
}

describe("a chat stream told as a response", () => {
  it("is legal, and comes to the same for OpenAI's client as the whole answer, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(somethingSaid, someRequest, someCuts, async (said, request, cuts) => {
        const translation = translated(request);
        const { text, problem } = tell("responses", translation, chatStream(said), cuts);
        expect(problem).toBeNull();
        expectLegal(dataOf(text) as unknown as StreamEvent[]);
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
        expectLegal(events);
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
