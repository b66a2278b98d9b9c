import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Frame, FrameReader, OPCODE, writeFrame } from "../../src/decide/frames.ts";

test("frames are read back as they were written, masked or not, split anywhere", () => {
  const mask = fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 }), { nil: undefined });
  const sizes = fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constantFrom(125, 126, 65_535, 65_536));
  const frame = fc.record({ opcode: fc.constantFrom(...Object.values(OPCODE)), size: sizes, mask });
  const cuts = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 4 }), cuts, (frames, steps) => {
      const written = frames.map(({ opcode, size }, i) => ({ opcode, payload: Buffer.alloc(size, i + 1) }));
      const bytes = Buffer.concat(
        written.map(({ opcode, payload }, i) => {
          const key = frames[i]?.mask;
          return writeFrame(opcode, payload, key === undefined ? undefined : Buffer.from(key));
        }),
      );
      const reader = new FrameReader();
      const read: Frame[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const step = (steps[turn % steps.length] ?? 1) * (bytes.length > 10_000 ? 100 : 1);
        read.push(...reader.push(bytes.subarray(at, at + step)));
        at += step;
      }
      expect(read).toEqual(written.map((one) => ({ ...one, final: true })));
    }),
    { numRuns: 25 },
  );
});

test("a frame that says it is enormous is refused before it comes", () => {
  const head = Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]);
  expect(() => new FrameReader().push(head)).toThrow("4294967296 bytes");
});
