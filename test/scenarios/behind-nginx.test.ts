import { afterEach, describe, expect, it } from "vitest";
import { type Answer, askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { NGINX, startNginx } from "../harness/nginx.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ASK = { max_tokens: 30, seed: 7 };

/** A model that takes four seconds to load, behind a gateway, behind an nginx that waits two seconds for a byte. */
async function startBehind(program: string, sseComments: string) {
  const box = await startMachine(cleanup, "box", [{ name: "m", load: "4s", tokensPerSecond: 100 }]);
  const gateway = await startTestGateway(cleanup, { box: box.url }, { sseComments });
  const { url } = await startNginx(cleanup, program, { upstream: gateway.url, readTimeout: "2s" });
  return { url, gateway: gateway.url };
}

/** The events of a stream, without comments and without what is each answer's own. */
function eventsOf({ body }: Answer): string[] {
  const events = body.split("\n\n").filter((event) => !event.startsWith(":") && event !== "");
  return events.map((event) => event.replace(/"(id|created|timings)":("[^"]*"|\d+|\{[^}]*\})/g, '"$1":0'));
}

describe.skipIf(NGINX === undefined)(
  "a stream through nginx that waits longer for its model than nginx does (skipped where nginx is missing)",
  () => {
    it("survives by the gateway's comments, and all its bytes arrive", async () => {
      const { url, gateway } = await startBehind(NGINX ?? "", "500ms");
      const answer = await askChat(url, "m", ASK).answer;
      const comments = answer.body.split("\n\n").filter((event) => event.startsWith(":"));
      const seconds = ((answer.endedAt - answer.sentAt) / 1_000).toFixed(1);
      console.log(`behind nginx (2 s): answered whole after ${seconds} s and ${comments.length} comments`);
      expect([answer.status, answer.complete]).toEqual([200, true]);
      expect(answer.endedAt - answer.sentAt).toBeGreaterThan(4_000);
      expect(comments.length).toBeGreaterThanOrEqual(4);
      expect(answer.body.endsWith("data: [DONE]\n\n")).toBe(true);
      const direct = await askChat(gateway, "m", ASK).answer;
      expect(direct.body).not.toContain("\n:");
      expect(eventsOf(direct).length).toBeGreaterThan(30);
      expect(eventsOf(answer)).toEqual(eventsOf(direct));
    });

    it("is given up by nginx without them", async () => {
      const { url } = await startBehind(NGINX ?? "", "0s");
      const { status, endedAt, sentAt } = await askChat(url, "m", ASK).answer;
      console.log(`behind nginx (2 s), no comments: ${status} after ${((endedAt - sentAt) / 1_000).toFixed(1)} s`);
      expect(status).toBe(504);
    });
  },
);
