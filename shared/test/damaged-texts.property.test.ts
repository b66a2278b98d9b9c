import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damaged } from "../../test/harness/damaged.ts";
import {
  answerHeadersForCaller,
  closeNames,
  FarmError,
  findQueryModel,
  globMatches,
  nameKey,
  originForm,
  parseDuration,
  parseSize,
  pathOf,
  plainText,
  requestHeadersForWorker,
  withoutLastSlashes,
} from "../src/index.ts";

const text = (good: readonly string[], hints: readonly string[]) =>
  damaged(fc.constantFrom(...good), hints).map((bytes) => bytes.toString("utf8"));

/** Milliseconds; what is quadratic in these sizes takes much longer. */
const AT_ONCE = 2_000;

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

describe("durations and sizes that are damaged", () => {
  const hints = ["ms", "s", "kb", "e9", ".", "-", "0x", "Infinity", "NaN", "9".repeat(400), "٣"];

  it("are none, or figures to count with", () => {
    fc.assert(
      fc.property(text(["500ms", "1.5m", "2h", "100mb", "0", "24gb"], hints), (damagedText) => {
        for (const read of [parseDuration(damagedText), parseSize(damagedText)]) {
          expect(read === null || (read >= 0 && read <= Number.MAX_SAFE_INTEGER)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("of four hundred digits are none", () => {
    expect(parseDuration(`${"9".repeat(400)}h`)).toBeNull();
    expect(parseSize(`${"9".repeat(400)}tb`)).toBeNull();
  });
});

function foundIn(target: string): string | null {
  try {
    return findQueryModel(target)?.model ?? null;
  } catch (error) {
    if (error instanceof FarmError) return "refused";
    throw error;
  }
}

describe("the model in a damaged query", () => {
  const good = ["/v1/realtime?model=m&x=1", "/x?a=b&model=org%2Fm+x%20y", "/x?mod%65l=%e2%82%ac"];

  it("is the one that every reader of queries finds, however badly it is encoded", () => {
    fc.assert(
      fc.property(text(good, ["%", "%zz", "%ff", "&", "=", "?", "+", "model=", "#", "%26", "&&"]), (target) => {
        const names = new URLSearchParams(target.slice(`${target}?`.indexOf("?") + 1)).getAll("model");
        const refusable = names.length > 1 || (names[0] ?? "").length > 500;
        expect(foundIn(target)).toBe(refusable ? "refused" : names[0] || null);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is found at once among very many", () => {
    expect(timed(() => findQueryModel(`/x?${"a&".repeat(50_000)}model=m`))).toBeLessThan(AT_ONCE);
    expect(timed(() => findQueryModel(`/x?${"=".repeat(100_000)}&model=m`))).toBeLessThan(AT_ONCE);
  });
});

/** By its definition, without a thought for time. */
function matchesSlowly(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  if (pattern.startsWith("*")) {
    return Array.from({ length: name.length + 1 }, (_, i) => i).some((i) =>
      matchesSlowly(pattern.slice(1), name.slice(i)),
    );
  }
  return name !== "" && pattern[0] === name[0] && matchesSlowly(pattern.slice(1), name.slice(1));
}

describe("names", () => {
  it("match patterns as the definition of `*` has it", () => {
    const few = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "-", "*"), maxLength: 6 });
    fc.assert(
      fc.property(pattern, few, (wanted, name) => {
        expect(globMatches(wanted, name)).toBe(matchesSlowly(wanted, name));
      }),
      { numRuns: 2_000 },
    );
  });

  it("match the worst of patterns in the time of one times the other", () => {
    expect(timed(() => globMatches("*a".repeat(5_000) + "b", "a".repeat(2_000)))).toBeLessThan(AT_ONCE);
    expect(timed(() => globMatches("*".repeat(100_000), "a".repeat(500)))).toBeLessThan(AT_ONCE);
  });

  it("have keys that are keys of themselves, whatever they are made of", () => {
    const hints = [":latest", "hf.co/", "library/", "/", ":", "@", "İ", "ß", "\ud800"];
    fc.assert(
      fc.property(text(["hf.co/org/M:Q4", "library/llama3.2:latest", "qwen3:8b"], hints), (name) => {
        expect(nameKey(nameKey(name))).toBe(nameKey(name));
      }),
      { numRuns: 1_000 },
    );
  });

  it("of any length are taken apart and compared at once", () => {
    const long = ["library/".repeat(20_000), ":latest".repeat(20_000), "/".repeat(100_000), "a".repeat(100_000)];
    for (const name of long) {
      expect(timed(() => nameKey(name))).toBeLessThan(AT_ONCE);
      expect(timed(() => closeNames(name, long))).toBeLessThan(AT_ONCE);
    }
  });
});

describe("request targets", () => {
  it("have a path whatever they are, and end with no slash where one asks", () => {
    fc.assert(
      fc.property(text(["http://h/v1?x", "/v1/models", "*"], ["//", "?", "#", "http://", "/".repeat(50)]), (target) => {
        expect(pathOf(originForm(target))).not.toContain("?");
        expect(withoutLastSlashes(target)).toBe(target.replace(/\/+$/, ""));
      }),
    );
    expect(timed(() => withoutLastSlashes(`${"/".repeat(200_000)}x`))).toBeLessThan(AT_ONCE);
  });
});

describe("headers", () => {
  const secret = fc.constantFrom(
    "Authorization",
    "x-api-key",
    "Cookie",
    "X-Farmgate-Caller",
    "Transfer-Encoding",
    "TE",
  );
  const named = fc.constantFrom("connection", "Connection", "vary", "x-any", "accept");
  const value = fc.oneof(fc.constantFrom("close, x-any", "Origin", ", ,", "keep-alive,x-any", ""), fc.string());
  const headers = fc.array(fc.tuple(fc.oneof(secret, named, fc.string()), value), { maxLength: 8 });

  it("of a caller never bring its credentials or what holds for its connection to a worker", () => {
    fc.assert(
      fc.property(headers, (pairs) => {
        for (const kept of [requestHeadersForWorker(pairs.flat()), answerHeadersForCaller(pairs.flat())]) {
          const names = kept.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
          expect(kept.length % 2).toBe(0);
          expect(names.filter((name) => /^(connection|te|transfer-encoding|x-farmgate-)/.test(name))).toEqual([]);
        }
        const sent = requestHeadersForWorker(pairs.flat()).map((part) => part.toLowerCase());
        expect(sent.filter((name, i) => i % 2 === 0 && /^(authorization|x-api-key|cookie)$/.test(name))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

it("text for a terminal holds nothing that moves its cursor", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (any) => {
      expect(plainText(any)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});
