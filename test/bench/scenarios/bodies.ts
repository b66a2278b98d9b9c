// The requests of the bench. What steers the stub stands in front, because it
// reads no more than the beginning of a body.

import { FILL } from "../load/jobs.ts";

function chat(steering: object, promptBytes: number): string {
  const messages = [{ role: "user", content: "word ".repeat(Math.ceil(promptBytes / 5)).slice(0, promptBytes) }];
  return JSON.stringify({ model: "bench", ...steering, messages });
}

function streamed(chunks: number, intervalMs: number, promptBytes: number): string {
  return chat({ stream: true, max_tokens: chunks, bench_interval_ms: intervalMs }, promptBytes);
}

/** More chunks than any window of the bench lets through. */
const ENDLESS = 1_000_000;

/** With a picture before `model`, of the size that the job says. */
export const pictureBody = `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${FILL}"}}]}],"model":"bench"}`;
/** With a recording before `model`, likewise. */
export const recordingBody = [
  '--bench\r\ncontent-disposition: form-data; name="file"; filename="said.wav"\r\n\r\n',
  FILL,
  '\r\n--bench\r\ncontent-disposition: form-data; name="model"\r\n\r\nbench\r\n--bench--\r\n',
].join("");

export const shortBody = chat({}, 230);
export const pacedStreamBody = streamed(ENDLESS, 10, 230);
export const slowStreamBody = streamed(ENDLESS, 1_000, 2_000);
export const briefStreamBody = streamed(4, 0, 230);
export const longPromptBody = streamed(4, 0, 220_000);
