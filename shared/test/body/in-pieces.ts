import * as fc from "fast-check";
import { expect } from "vitest";
import { BodyBytes } from "../../src/body/body-bytes.ts";
import { FormBody } from "../../src/body/form-body.ts";
import { JsonBody } from "../../src/body/json-body.ts";
import type { BodyScan, BodyScanner, ScannedBody } from "../../src/body/scanned-body.ts";

/** Where a buffer starts inside its memory must make no difference. */
export function placedAt(bytes: Buffer | string, offset: number): Buffer {
  return Buffer.concat([Buffer.alloc(offset), Buffer.from(bytes as Buffer)]).subarray(offset);
}

/** Sizes of pieces, over and over; one of 0 is an empty piece. */
export const cuts = fc
  .array(fc.oneof(fc.nat(7), fc.nat(300)), { minLength: 1, maxLength: 8 })
  .filter((sizes) => sizes.some((size) => size > 0));

/** The pieces of a copy, one behind the other in its memory. */
export function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const copy = placedAt(bytes, 0);
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(copy.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function run(scanner: BodyScanner, pieces: readonly Buffer[]): BodyScan {
  for (const piece of pieces) {
    scanner.push(piece);
    // What it needed of a piece it has copied.
    piece.fill(0);
  }
  return scanner.finish();
}

/** The result for the bytes in one piece; that in pieces of one byte each, and as the sizes say, must be the same. */
function sameInPieces(make: () => BodyScanner, body: Buffer, sizes: readonly number[]): BodyScan {
  const whole = run(make(), [placedAt(body, 0)]);
  if (body.length < 2_000) expect(run(make(), cut(body, [1]))).toEqual(whole);
  expect(run(make(), cut(body, sizes))).toEqual(whole);
  return whole;
}

export function scanJson(body: Buffer | string, sizes: readonly number[] = [1_000, 3]): BodyScan {
  return sameInPieces(() => new JsonBody(), Buffer.from(body as Buffer), sizes);
}

export function scanForm(body: Buffer | string, boundary: string, sizes: readonly number[] = [1_000, 3]): BodyScan {
  return sameInPieces(() => new FormBody(boundary), Buffer.from(body as Buffer), sizes);
}

export function mustFind(scan: BodyScan): ScannedBody {
  if (!scan.ok) throw new Error(`refused: ${scan.message}`);
  return scan;
}

export function refusalIn(scan: BodyScan): { message: string; param: string | null } {
  if (scan.ok) throw new Error(`taken: ${scan.model}`);
  return { message: scan.message, param: scan.param };
}

export function bodyOf(bytes: Buffer | string, sizes: readonly number[] = [5]): BodyBytes {
  return new BodyBytes(cut(Buffer.from(bytes as Buffer), sizes));
}
