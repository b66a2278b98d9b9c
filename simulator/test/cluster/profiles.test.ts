import { describe, expect, test } from "vitest";
import { ENGINE_PARAMETERS } from "../../src/cluster/parameters.ts";
import { applicationOf, BASE_MODELS, PUBLISHED_SHAPE } from "../../src/cluster/profiles.ts";
import { prefillMs, stepMs, touchedBytes } from "../../src/cluster/timing.ts";
import type { ModelProfile } from "../../src/cluster/types.ts";

const named = (name: string) => BASE_MODELS.find((model) => model.name === name) as ModelProfile;

describe("the profiles", () => {
  test("a device full of weights forks and wakes in the published times", () => {
    const { deviceMemory, peerRate, hostRate, diskRate } = PUBLISHED_SHAPE;
    const { peerConstantMs, hostConstantMs } = ENGINE_PARAMETERS;
    expect((1_000 * deviceMemory) / peerRate + peerConstantMs).toBeCloseTo(742, 0);
    expect(Math.abs((1_000 * deviceMemory) / hostRate + hostConstantMs - 2_712)).toBeLessThan(5);
    expect(hostRate / diskRate).toBeCloseTo(10, 6);
  });

  test("each model forks within the published range", () => {
    for (const { weightBytes, tensorParallel } of BASE_MODELS) {
      const ms = (1_000 * weightBytes) / (tensorParallel * PUBLISHED_SHAPE.peerRate) + ENGINE_PARAMETERS.peerConstantMs;
      expect(ms).toBeGreaterThan(370);
      expect(ms).toBeLessThan(783);
    }
  });

  test("each model fits its devices with room for a long prompt, and spans no more than a host", () => {
    for (const { weightBytes, kvBytesPerToken, tensorParallel } of BASE_MODELS) {
      const room = PUBLISHED_SHAPE.deviceMemory - weightBytes / tensorParallel;
      expect(room / (kvBytesPerToken / tensorParallel)).toBeGreaterThan(100_000);
      expect(16 % tensorParallel).toBe(0);
    }
  });

  test("a prompt costs as much again in attention where the parameter says", () => {
    const model = named("dense-8b");
    const time = (tokens: number, attentionTokens: number) =>
      prefillMs(model, PUBLISHED_SHAPE, { ...ENGINE_PARAMETERS, attentionTokens, prefillConstantMs: 0 }, tokens);
    expect(time(60_000, 60_000)).toBeCloseTo(2 * time(60_000, Number.POSITIVE_INFINITY), 6);
    // Of a prefix only the attention to it is left: the whole is the sum of its parts.
    const parts = prefillMs(model, PUBLISHED_SHAPE, { ...ENGINE_PARAMETERS, prefillConstantMs: 0 }, 3_000, 2_000);
    expect(time(2_000, 60_000) + parts).toBeCloseTo(time(3_000, 60_000), 6);
  });

  test("a batch touches more experts than one token, and never more than there are", () => {
    const model = named("moe-671b-a37b");
    expect(touchedBytes(model, 1)).toBeCloseTo(37e9, -3);
    expect(touchedBytes(model, 8)).toBeGreaterThan(200e9);
    expect(touchedBytes(model, 10_000)).toBeLessThanOrEqual(671e9);
  });

  test("limits follow from undisturbed times by one rule, and can be kept", () => {
    for (const model of BASE_MODELS) {
      const { ttftMs, tpotMs } = applicationOf("a", model);
      expect(ttftMs).toBeGreaterThanOrEqual(5 * prefillMs(model, PUBLISHED_SHAPE, ENGINE_PARAMETERS, 1_000));
      expect(ttftMs).toBeGreaterThanOrEqual(500);
      expect(tpotMs).toBeGreaterThanOrEqual(
        Math.max(25, 2 * stepMs(model, PUBLISHED_SHAPE, ENGINE_PARAMETERS, 32, 32_000)),
      );
    }
  });
});
