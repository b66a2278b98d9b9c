import * as fc from "fast-check";

/** One thing that goes wrong with bytes. Places are shares of their length, so that they hold for any length. */
type Damage =
  | { kind: "flip"; at: number; bits: number }
  | { kind: "put"; at: number; bytes: Buffer }
  | { kind: "drop" | "double"; at: number; length: number }
  | { kind: "move"; at: number; length: number; to: number }
  | { kind: "repeat"; at: number; length: number; times: number }
  | { kind: "cut"; at: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const length = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 80 }));

/**
 * Bytes that nearly are what they should be: one to four things went wrong with good ones. `hints` are texts that mean
 * something to the reader under test, and are put in more often than others.
 */
export function damaged(good: fc.Arbitrary<Buffer | string>, hints: readonly string[] = ["\n"]): fc.Arbitrary<Buffer> {
  const hint = fc.constantFrom(...hints, "\u0000", "\r\n", '"', "\\", "é", "𝄞").map((text) => Buffer.from(text));
  const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes));
  const damage: fc.Arbitrary<Damage> = fc.oneof(
    fc.record({ kind: fc.constant("flip" as const), at: share, bits: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ kind: fc.constant("put" as const), at: share, bytes: fc.oneof(hint, anyBytes) }),
    fc.record({ kind: fc.constantFrom("drop" as const, "double" as const), at: share, length }),
    fc.record({ kind: fc.constant("move" as const), at: share, length, to: share }),
    fc.record({ kind: fc.constant("repeat" as const), at: share, length, times: fc.constantFrom(2, 30, 300) }),
    fc.record({ kind: fc.constant("cut" as const), at: share }),
  );
  const damages = fc.array(damage, { minLength: 1, maxLength: 4 });
  return fc
    .tuple(good, damages)
    .map(([bytes, all]) => all.reduce<Buffer>(spoil, Buffer.from(bytes as Buffer)).subarray(0, MOST));
}

const MOST = 100_000;

function spoil(bytes: Buffer, damage: Damage): Buffer {
  const at = Math.floor(damage.at * bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (damage.kind) {
    case "flip":
      return Buffer.concat([before, after.subarray(0, 1).map((byte) => byte ^ damage.bits), after.subarray(1)]);
    case "put":
      return Buffer.concat([before, damage.bytes, after]);
    case "drop":
      return Buffer.concat([before, after.subarray(damage.length)]);
    case "double":
      return Buffer.concat([before, after.subarray(0, damage.length), after]);
    case "repeat":
      return Buffer.concat([before, ...Array<Buffer>(damage.times).fill(after.subarray(0, damage.length)), after]);
    case "move": {
      const rest = Buffer.concat([before, after.subarray(damage.length)]);
      const to = Math.floor(damage.to * rest.length);
      return Buffer.concat([rest.subarray(0, to), after.subarray(0, damage.length), rest.subarray(to)]);
    }
    case "cut":
      return before;
  }
}

/** The bytes in pieces of these sizes, over and over. */
export function inPieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** Sizes for `inPieces`: tiny ones, and none at all. */
export const pieceSizes = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
  fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 }),
  fc.constant([Number.MAX_SAFE_INTEGER]),
);
