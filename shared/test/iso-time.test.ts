import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isoTime } from "../src/index.ts";

it("writes any moment as the platform does", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
      (date) => {
        expect(isoTime(date.getTime())).toBe(date.toISOString());
      },
    ),
  );
  for (const text of ["2000-02-29T23:59:59.999Z", "2024-03-01T00:00:00.000Z", "2100-02-28T12:00:00.000Z"]) {
    expect(isoTime(new Date(text).getTime())).toBe(text);
  }
  expect(isoTime(1_500.75)).toBe("1970-01-01T00:00:01.500Z");
});
