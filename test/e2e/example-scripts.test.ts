import { execFile } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const example = (name: string) => fileURLToPath(new URL(`../../deploy/examples/${name}`, import.meta.url));

/** A folder with programs in it that stand for those of a real machine. */
async function machine(programs: Record<string, string>) {
  const folder = await cleanup.folder();
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}`);
    await chmod(join(folder, name), 0o755);
  }
  const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder, XDG_RUNTIME_DIR: folder };
  const swap = async (script: string, model: string) =>
    promisify(execFile)(example(script), [model], { env }).then(
      () => 0,
      (error: { code: number; stderr: string }) => (error.code === 1 ? error.stderr : error.code),
    );
  return { folder, swap };
}

// Another name for a running script, and `setsid`, are found on Linux alone.
describe.runIf(process.platform === "linux")("swap.sh of the GPU box", () => {
  test("leaves one llama-server, the asked one, and touches nothing that is right already", async () => {
    const { folder, swap } = await machine({ "llama-server": "while :; do sleep 0.1; done\n" });
    const pidOf = async (model: string) =>
      Number(await readFile(join(folder, "farmgate-swap", `${model}.pid`), "utf8"));
    const runs = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    const started = async (model: string) => {
      const pid = await pidOf(model);
      cleanup.add(pid, () => void (runs(pid) && process.kill(pid, "SIGKILL")));
      const name = async () => (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
      await until(async () => (await name()) === "llama-server", `${model} runs`);
      return pid;
    };
    expect(await swap("swap.sh", "qwen3-coder-30b")).toBe(0);
    const coder = await started("qwen3-coder-30b");
    expect(await swap("swap.sh", "qwen3-coder-30b")).toBe(0);
    expect(await pidOf("qwen3-coder-30b")).toBe(coder);

    expect(await swap("swap.sh", "llama-3.3-70b")).toBe(0);
    const llama = await started("llama-3.3-70b");
    await until(() => !runs(coder), "the coder has gone");
    expect(runs(llama)).toBe(true);
  });

  test("fails with the last words of a llama-server that ends at once, or is not there", async () => {
    const { swap } = await machine({ "llama-server": "echo cannot open the model; exit 1\n" });
    expect(await swap("swap.sh", "qwen3-coder-30b")).toBe("cannot open the model\n");
    const bare = await machine({});
    expect(await bare.swap("swap.sh", "qwen3-coder-30b")).toContain("llama-server");
  });

  test("refuses a model that it does not know", async () => {
    const { swap } = await machine({});
    expect(await swap("swap.sh", "other")).toBe(2);
  });
});

describe("mac-swap.sh of the Mac", () => {
  // Services are files in a folder; one that is told to go stays for two looks, and the order to go fails meanwhile.
  const launchctl = `
cd "$HOME"; echo "$*" >>calls
service=$(basename "$2")
case $1 in
  print)
    [ -f "$service.up" ] || exit 113
    if [ -f "$service.going2" ]; then rm "$service.going2"; elif [ -f "$service.going" ]; then rm "$service.going" "$service.up"; fi
    ;;
  bootout) touch "$service.going" "$service.going2"; exit 36 ;;
  bootstrap) [ ! -f "$(ls *.up 2>/dev/null)" ] || exit 5; touch "$(basename "$3" .plist).up" ;;
esac
`;

  test("starts a service only after the other one has gone", async () => {
    const { folder, swap } = await machine({ launchctl });
    const calls = async (order: string) =>
      (await readFile(join(folder, "calls"), "utf8")).split("\n").filter((line) => line.startsWith(order)).length;
    expect(await swap("mac-swap.sh", "qwen3-8b")).toBe(0);
    expect(await swap("mac-swap.sh", "qwen3-8b")).toBe(0);
    expect([await calls("bootstrap"), await calls("bootout")]).toEqual([1, 0]);

    expect(await swap("mac-swap.sh", "gemma-3-12b")).toBe(0);
    expect([await calls("bootstrap"), await calls("bootout")]).toEqual([2, 1]);
    expect(await readFile(join(folder, "calls"), "utf8")).toMatch(
      /bootstrap \S+ \S+examples\/farm\.gemma-3-12b\.plist/,
    );
  });
});
