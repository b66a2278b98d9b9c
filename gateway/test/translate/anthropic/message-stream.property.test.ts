import * as fc from "fast-check";
import { expect, it } from "vitest";
import { arbitraryAnswer, cutAt, shuffledChunks } from "./arbitrary-answer.ts";
import { chatEvents, readMessage, translated, translateStream } from "./read-message.ts";

const AT = { wallMs: 0, sinceSentMs: 0 };

it("a stream, cut anywhere and its calls mixed in any order, is the message that the whole answer is", () => {
  fc.assert(
    fc.property(arbitraryAnswer, fc.array(fc.nat()), fc.array(fc.nat()), (answer, order, cuts) => {
      const bytes = chatEvents([...shuffledChunks(answer, order), "[DONE]"]);
      const { text, problem } = translateStream(cutAt(bytes, cuts));
      expect(problem).toBeNull();
      expect(readMessage(text)).toEqual(translated({}, false).whole(answer, AT));
    }),
    { numRuns: 300 },
  );
});

it("a whole answer told as a stream is the same message", () => {
  fc.assert(
    fc.property(arbitraryAnswer, (answer) => {
      const put = translated();
      expect(readMessage(put.wholeAsStream(answer, AT))).toEqual(put.whole(answer, AT));
    }),
  );
});

it("a stream that breaks off anywhere is legal up to there and has no end that was not due", () => {
  fc.assert(
    fc.property(
      arbitraryAnswer,
      fc.array(fc.nat()),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (answer, order, part) => {
        const bytes = chatEvents(shuffledChunks(answer, order));
        const cut = bytes.subarray(0, Math.floor(part * bytes.length));
        const told = /"finish_reason":"\w+"[^\n]*\n\n/.test(cut.toString());
        const { text, problem } = translateStream([cut]);
        expect([readMessage(text) !== null, text.includes("message_stop"), problem === null]).toEqual([
          told,
          told,
          told,
        ]);
      },
    ),
    { numRuns: 300 },
  );
});

it("no bytes bring it down, and none make an illegal stream", () => {
  const chunk = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constant("[DONE]"),
    fc.object().map((value) => JSON.stringify(value)),
  );
  const odd = fc.record({ choices: fc.array(fc.record({ delta: fc.anything(), finish_reason: fc.anything() })) });
  const events = fc.array(
    fc.oneof(
      chunk,
      odd.map((value) => JSON.stringify(value) ?? ""),
    ),
  );
  fc.assert(
    fc.property(events, fc.uint8Array(), (pieces, tail) => {
      const { text } = translateStream([chatEvents(pieces), Buffer.from(tail)]);
      expect(() => readMessage(text)).not.toThrow();
    }),
    { numRuns: 300 },
  );
});
