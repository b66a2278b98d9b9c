import { describe, expect, it } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

async function simulate(...flags: string[]) {
  const io = fakeIo(["simulate", ...flags]);
  return { code: await runProgram(io), ...io.printed };
}

describe("farmgate simulate --cluster", () => {
  it("prints a row for a policy and says on the other stream how far it is", async () => {
    const { code, stdout, stderr } = await simulate("--cluster", "five-burst", "--policy", "static");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\| policy +\| on time/);
    expect(stdout).toMatch(/^\| static +\| \d/m);
    expect(stderr).toContain("static: done in");
  });

  it("prints reports for programs", async () => {
    const { stdout } = await simulate("--cluster", "five-burst", "--policy", "static-by-demand", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ name: "static-by-demand", requests: 8_160 }]);
  });

  it("says what is wrong with its flags", async () => {
    expect(await simulate("--cluster", "w1")).toMatchObject({ code: 2, stderr: expect.stringContaining("five-burst") });
    expect(await simulate("--cluster", "w0", "--policy", "magic")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("two-pools"),
    });
    const azure = await simulate("--cluster", "azure", "--policy", "static");
    expect(azure).toMatchObject({ code: 2, stderr: expect.stringContaining("--traces") });
    expect(await simulate("--cluster", "w0", "--farm", "farm.yaml")).toMatchObject({ code: 2 });
    expect(await simulate()).toMatchObject({ code: 2, stderr: expect.stringContaining("--farm") });
  });
});
