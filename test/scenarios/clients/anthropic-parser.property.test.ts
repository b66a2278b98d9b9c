import Anthropic from "@anthropic-ai/sdk";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { arbitraryAnswer, shuffledChunks } from "../../../gateway/test/translate/anthropic/arbitrary-answer.ts";
import { chatEvents, translated, translateStream } from "../../../gateway/test/translate/anthropic/read-message.ts";

const AT = { wallMs: 0, sinceSentMs: 0 };
const question = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };

/** What the official SDK makes of a stream. */
async function finalMessage(text: string): Promise<unknown> {
  const answer = () => Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } }));
  const client = new Anthropic({ apiKey: "any", maxRetries: 0, fetch: answer });
  const { parsed_output: _sdkOwn, ...message } = await client.messages.stream(question).finalMessage();
  // As JSON: it has members that are not for sending.
  return JSON.parse(JSON.stringify(message)) as unknown;
}

it("the official SDK reads every stream as the message that the whole answer is", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryAnswer, fc.array(fc.nat()), async (answer, order) => {
      const { text } = translateStream([chatEvents([...shuffledChunks(answer, order), "[DONE]"])]);
      const whole = translated({}, false).whole(answer, AT);
      expect(await finalMessage(text)).toEqual(whole);
      expect(await finalMessage(translated().wholeAsStream(answer, AT))).toEqual(whole);
    }),
    { numRuns: 150 },
  );
});
