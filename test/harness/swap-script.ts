import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FARMGATE } from "./farmgate-process.ts";

export interface EngineFlags {
  /** As `farmgate engine --load`. */
  load: string;
  slots: number;
  tokensPerSecond: number;
}

/**
 * Writes a swap script of the usual kind into `folder`: it ends the engine that its last run left, and starts MODEL's
 * (a simulated single-model engine, its port taken from FARMGATE_URL) in the background. Each start is written down.
 */
export async function writeSwapScript(folder: string, flags: EngineFlags) {
  const script = join(folder, "swap.sh");
  const starts = join(folder, "starts.log");
  const pid = join(folder, "engine.pid");
  await writeFile(starts, "");
  await writeFile(
    script,
    `#!/bin/sh
set -eu
model=$1
port=\${FARMGATE_URL##*:}
if [ -f '${pid}' ]; then
  read -r old running < '${pid}'
  if [ "$running" = "$model" ] && kill -0 "$old" 2>/dev/null; then exit 0; fi
  kill "$old" 2>/dev/null || true
  while kill -0 "$old" 2>/dev/null; do sleep 0.02; done
fi
echo "$model" >> '${starts}'
'${process.execPath}' '${FARMGATE}' engine --single --models "$model" --port "$port" --load ${flags.load} \\
  --slots ${flags.slots} --tokens-per-second ${flags.tokensPerSecond} --prompt-speed 0 > '${folder}/engine.log' 2>&1 &
echo "$! $model" > '${pid}'
`,
    { mode: 0o755 },
  );
  return {
    script,
    starts: async () => (await readFile(starts, "utf8")).split("\n").filter((line) => line !== ""),
    async endEngine(): Promise<void> {
      const text = await readFile(pid, "utf8").catch(() => "");
      const engine = Number(text.split(" ")[0]);
      if (engine > 0) process.kill(engine, "SIGTERM");
    },
  };
}
