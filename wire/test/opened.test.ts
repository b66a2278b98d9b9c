import { expect, it } from "vitest";
import { createLog, openedWhole } from "../src/index.ts";

const log = createLog("gateway", "silent");

it("closes what a failed start had opened, the last first, whatever one of them throws, and tells why it failed", async () => {
  const closed: string[] = [];
  const start = openedWhole(log, async (opened) => {
    opened.add("first", async (name) => {
      await Promise.resolve();
      closed.push(name);
    });
    opened.add("second", () => {
      throw new Error("does not close");
    });
    opened.add("third", (name) => closed.push(name));
    throw new Error("the port is taken");
  });
  await expect(start).rejects.toThrow("the port is taken");
  expect(closed).toEqual(["third", "first"]);
});

it("keeps open what a start that went well has opened", async () => {
  const closed: string[] = [];
  expect(await openedWhole(log, async (opened) => opened.add("it", (name) => closed.push(name)))).toBe("it");
  expect(closed).toEqual([]);
});
