import { type Rig, type RigConfig, startRig } from "./agent-rig.ts";
import { handMadeEngine } from "./hand-made-engine.ts";

export interface HeldRig extends Rig {
  /** The user's message of each request that reached an engine, in order. */
  asked: string[];
  /** Lets the answers under way end, and those to come end at once. */
  release(): void;
}

/**
 * Models a and b, each with an engine by hand and one slot; a counts as loaded, and a swap is done at once. No answer
 * ends before `release`, so that a test decides what waits behind it, however slow the machine is.
 */
export async function startHeldRig(config: RigConfig = {}): Promise<HeldRig> {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  let released = false;
  const heldEngine = () =>
    handMadeEngine(({ body }, response) => {
      const { messages, model, stream }: { messages: { content: string }[]; model: string; stream?: boolean } =
        JSON.parse(String(body));
      asked.push(messages[0]?.content ?? "");
      response.writeHead(200, { "content-type": stream === true ? "text/event-stream" : "application/json" });
      const end = () => response.end(stream === true ? "data: [DONE]\n\n" : JSON.stringify({ model }));
      if (released) end();
      else held.push(end);
    });
  const models = [];
  for (const name of ["a", "b"]) models.push({ name, url: (await heldEngine()).url, slots: 1 });
  const rig = await startRig({ script: "#!/bin/sh\necho $1 >> calls.log\n", config: { models, ...config } });
  return {
    ...rig,
    asked,
    release() {
      released = true;
      for (const end of held.splice(0)) end();
    },
  };
}
