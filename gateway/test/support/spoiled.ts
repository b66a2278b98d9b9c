import * as fc from "fast-check";

type Path = readonly (string | number)[];

/** What stands where something else was expected; undefined: it is left out. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(undefined, null, "", "x", "-1", 0, -1, 1.5, 1e308, true, false, [], {}, [null], [[]], [{}], ["x"]),
  fc.jsonValue({ maxDepth: 2 }),
);

/** This JSON with odd values in one to three of its places, whatever they are. */
export function spoiled<T>(good: T): fc.Arbitrary<T> {
  const places = pathsOf(good);
  const faults = fc.array(fc.tuple(fc.constantFrom(...places), oddValue), { minLength: 1, maxLength: 3 });
  return faults.map((all) => {
    const value = all.reduce<unknown>((whole, [path, odd]) => replaced(whole, path, odd), good);
    // JSON again: what is left out of a list is null there.
    return JSON.parse(JSON.stringify(value)) as T;
  });
}

/** Of all that is inside it. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    return [at, ...pathsOf(inner, at)];
  });
}

/** A place that an earlier fault took away stays away. */
function replaced(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd;
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string | number, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value };
  copy[key] = replaced(copy[key], rest, odd);
  return copy;
}
