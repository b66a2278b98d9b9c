import { describe, expect, it } from "vitest";
import { predictedWaits } from "../../src/queue/forecast.ts";
import { ANSWER_MS, burstyHour, LOAD_MS } from "./bursty-hour.ts";
import { Drive } from "./drive.ts";

/** Milliseconds between which a forecast of none is as good as right. */
const SHORT = 1_000;

interface Forecast {
  /** Milliseconds. */
  predicted: number;
  waited: number;
  state: string;
}

/** What was foretold just before each request of the hour came, and how long it then waited. */
function forecastHour(seed: number): Forecast[] {
  const work = burstyHour(seed);
  const costs = { serviceMs: () => (ANSWER_MS.least + ANSWER_MS.most) / 2, loadMs: () => LOAD_MS };
  const drive = new Drive(work);
  const foretold = new Map<string, { predicted: number; state: string }>();
  for (const { id, at, model } of work.arrivals) {
    drive.at(at - 0.5, () => {
      const view = drive.scheduler.view(drive.now);
      const predicted = predictedWaits(view, work.rules, costs).get(model) ?? Number.NaN;
      foretold.set(id, { predicted, state: view.models.find(({ name }) => name === model)?.state ?? "" });
    });
  }
  drive.run();
  return Array.from(foretold, ([id, told]) => ({ ...told, waited: drive.waits.get(id) ?? Number.NaN }));
}

/** Mean absolute error, the mean error with its sign, and the share of forecasts within a factor of two. */
function errorsOf(forecasts: readonly Forecast[]) {
  const mean = (of: (forecast: Forecast) => number) =>
    forecasts.reduce((sum, forecast) => sum + of(forecast), 0) / forecasts.length;
  const close = ({ predicted, waited }: Forecast) =>
    (predicted <= SHORT && waited <= SHORT) || (predicted <= 2 * waited && waited <= 2 * predicted);
  return {
    count: forecasts.length,
    absolute: mean(({ predicted, waited }) => Math.abs(predicted - waited)),
    signed: mean(({ predicted, waited }) => predicted - waited),
    wait: mean(({ waited }) => waited),
    close: mean((forecast) => Number(close(forecast))),
  };
}

describe("the forecast over a bursty hour", () => {
  it("is within a factor of two most of the time", () => {
    const forecasts = [1, 2, 3].flatMap(forecastHour);
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
    console.log("| asked while | requests | mean wait | mean absolute error | mean error | within a factor of two |");
    console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (const state of ["", "warm", "loading", "cold"]) {
      const those = forecasts.filter((forecast) => state === "" || forecast.state === state);
      const { count, wait, absolute, signed, close } = errorsOf(those);
      const share = `${Math.round(close * 100)} %`;
      console.log(`| ${state || "all"} | ${count} | ${[wait, absolute, signed].map(seconds).join(" | ")} | ${share} |`);
    }
    const { absolute, close, wait } = errorsOf(forecasts);
    expect(close).toBeGreaterThan(0.75);
    expect(absolute).toBeLessThan(wait / 2);
  });
});
