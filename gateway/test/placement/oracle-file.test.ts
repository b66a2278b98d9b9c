import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@farmgate/shared";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SteppedClock } from "../../../wire/test/support/stepped-clock.ts";
import { OracleFile } from "../../src/placement/oracle-file.ts";
import { until } from "../support/until.ts";
import { load } from "./oracle/loads.ts";

const options = { learning: { random: seededRandom(1) } };
const measured = { memory: 2e10, compute: 1, bandwidth: 1 };

let directory: string;
let told: string[];
let clock: SteppedClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "farmgate-oracles-"));
  told = [];
  clock = new SteppedClock();
});
afterEach(() => rm(directory, { recursive: true }));

const file = (where = directory) =>
  new OracleFile(where, { clock, everyMs: 10_000, tell: (problem) => told.push(problem) });
const path = () => join(directory, "oracles.json");

describe("the file of the Oracles", () => {
  it("brings back what was learned, to the owner alone and with no draft left", async () => {
    const oracles = await file().read(options);
    oracles.capacity.observe("m", load, measured);
    await file(join(directory, "deeper")).flush(oracles);
    const again = await file(join(directory, "deeper")).read(options);
    expect(again.capacity.points("m")).toBe(1);
    expect(await readdir(join(directory, "deeper"))).toEqual(["oracles.json"]);
    expect((await stat(join(directory, "deeper", "oracles.json"))).mode & 0o777).toBe(0o600);
    expect(told).toEqual([]);
  });

  it("is written no more often than it may, and then as things are", async () => {
    const its = file();
    const oracles = await its.read(options);
    await its.flush(oracles);
    oracles.capacity.observe("m", load, measured);
    its.save(oracles);
    its.save(oracles);
    expect(clock.pending).toBe(1);
    clock.move(9_999);
    expect(await readFile(path(), "utf8")).not.toContain('"m"');
    oracles.elasticity.observe("late", load, 1, 1);
    clock.move(1);
    await until("it is written", async () => (await readFile(path(), "utf8")).includes('"late"'));
    its.save(oracles);
    await its.flush(oracles);
    expect(clock.pending).toBe(0);
  });

  it("starts empty and says so when it is damaged", async () => {
    await writeFile(path(), '{"version":1,"capa');
    const { capacity } = await file().read(options);
    expect(capacity.points("m")).toBe(0);
    expect(told).toEqual([expect.stringMatching(/oracles\.json: what was learned cannot be read/)]);
  });

  it("says so and goes on when the directory is none", async () => {
    await writeFile(path(), "");
    const its = file(path());
    const oracles = await its.read(options);
    await its.flush(oracles);
    expect(told).toEqual([expect.stringContaining("cannot be read"), expect.stringContaining("cannot be written")]);
  });
});
