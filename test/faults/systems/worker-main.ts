// A good worker in a process of its own, for what happens to processes. Arguments: its port (0: a free one), its models.
import { createSystemClock } from "@farmgate/wire";
import { PACED } from "../faults/pace.ts";
import { FaultyWorker } from "../rig/worker.ts";

const [port = "0", ...models] = process.argv.slice(2);
const worker = await new FaultyWorker(models, createSystemClock()).listen(Number(port));
await worker.set(PACED);
process.stdout.write(`${worker.url}\n`);
