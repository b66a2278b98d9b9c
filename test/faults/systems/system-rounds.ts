import { connect, type Socket } from "node:net";
import type { Clock, Random } from "@farmgate/shared";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { startAgentRig } from "../rig/agent.ts";
import { startGatewayRig } from "../rig/gateway.ts";
import { goodRound, type Row } from "../round.ts";
import { CUT_UNSERVED } from "../verdict.ts";

/** File descriptors of a gateway that is short of them; some thirty are its own, and its start needs more. */
const FEW_FDS = 256;

type Start = typeof startGatewayRig;

/** The log cannot be written, or nobody reads it; then file descriptors run out. */
export async function systemRounds(
  cleanup: Cleanup,
  requests: number,
  random: Random,
  clock: Clock,
  isWanted: (name: string) => boolean,
): Promise<Row[]> {
  const rows: Row[] = [];
  const fronts: [string, Start][] = [
    ["gateway", startGatewayRig],
    ["agent", startAgentRig],
  ];
  for (const [kind, start] of fronts) {
    if (isWanted(`${kind} log on a full disk`)) {
      const rig = await start(cleanup, clock, "exec > /dev/full");
      rows.push(await goodRound(rig, "log on a full disk", requests, random));
    }
    if (isWanted(`${kind} log pipe closed`)) {
      const rig = await start(cleanup, clock);
      rig.front.process.child.stdout?.destroy();
      rows.push(await goodRound(rig, "log pipe closed", requests, random));
      rows.push(await goodRound(rig, "behind it: log pipe closed", requests, random));
    }
    if (isWanted(`${kind} out of file descriptors`)) {
      rows.push(...(await withoutFds(await start(cleanup, clock, `ulimit -n ${FEW_FDS}`), requests, random)));
    }
  }
  return rows;
}

/** Idle callers take what there is; whoever is closed out is told so by the closed connection alone. */
async function withoutFds(rig: Awaited<ReturnType<Start>>, requests: number, random: Random): Promise<Row[]> {
  const { port } = new URL(rig.front.url);
  const idle: Socket[] = Array.from({ length: FEW_FDS }, () => connect(Number(port), "127.0.0.1"));
  for (const socket of idle) socket.on("error", () => {});
  await new Promise((resolve) => setTimeout(resolve, 300));
  const freeing = setTimeout(() => free(idle), 1_500);
  const row = await goodRound(rig, "out of file descriptors", requests, random, false);
  clearTimeout(freeing);
  free(idle);
  const verdicts = row.verdicts.map((verdict) =>
    verdict.end === "lost" && verdict.why === CUT_UNSERVED
      ? { end: "told" as const, code: "closed unserved" }
      : verdict,
  );
  return [{ ...row, verdicts }, await goodRound(rig, "behind it: file descriptors again", requests, random)];
}

function free(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}
