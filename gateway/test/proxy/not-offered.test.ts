import { expect, it } from "vitest";
import { type FailedAttempt, isNotOfferedThere } from "../../src/proxy/failure.ts";

it.each([
  [404, "File Not Found", true],
  [404, "404 page not found", true],
  [404, "", true],
  [404, "model 'm' not found", false],
  [404, "The model `m` does not exist.", false],
  [405, "Method Not Allowed", true],
  [501, "This model does not support embeddings", true],
  [403, "no", false],
])("%i %j leaves another way open: %s", (status, reason, another) => {
  const tried: FailedAttempt = {
    worker: "w",
    by: "answer",
    status,
    meaning: "unknown_model",
    retryAfterS: null,
    reason,
  };
  expect(isNotOfferedThere(tried)).toBe(another);
});
