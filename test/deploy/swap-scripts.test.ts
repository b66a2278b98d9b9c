import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SWAP = fileURLToPath(new URL("../../deploy/swap/", import.meta.url));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** A folder with the script, the files beside it, and a program that stands for the machine's own and notes its calls. */
async function machine(script: string, program: string, text: string, files: readonly string[] = []) {
  const folder = await cleanup.folder();
  const bin = join(folder, "bin");
  await mkdir(bin);
  await copyFile(join(SWAP, script), join(folder, script));
  await writeFile(join(bin, program), `#!/bin/sh\ncd '${folder}'\necho "$*" >>calls\n${text}`);
  await chmod(join(bin, program), 0o755);
  for (const file of ["calls", ...files]) await writeFile(join(folder, file), "");
  const env = { PATH: `${bin}:${process.env["PATH"]}`, FARMGATE_ENGINES: folder, FARMGATE_SETTLE: "0" };
  const run = (...args: string[]): Promise<Run> =>
    promisify(execFile)(join(folder, script), args, { env }).then(
      (output) => ({ code: 0, ...output }),
      (error: Run) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
    );
  /** Its calls since the last look, those that begin with one of these words. */
  const calls = async (...words: string[]) => {
    const lines = (await readFile(join(folder, "calls"), "utf8")).split("\n");
    await writeFile(join(folder, "calls"), "");
    return lines.filter((line) => words.includes(line.split(" ")[0] ?? ""));
  };
  return { folder, run, calls };
}

/** Units are files in the folder: UNIT.up runs; `start` of a unit that has a file UNIT.bad changes nothing. */
const SYSTEMCTL = `
unit=$2
[ "$1" = is-active ] && unit=$3
case $1 in
  is-active) [ -f "$unit.up" ] ;;
  start) [ -f "$unit.bad" ] || touch "$unit.up" ;;
  stop) rm -f "$unit.up" ;;
  status) echo "cannot open the model"; exit 3 ;;
  reset-failed) exit 1 ;;
esac
`;

describe("systemd.sh", () => {
  const box = () => machine("systemd.sh", "systemctl", SYSTEMCTL, ["coder.env", "llama-3.3-70b.env"]);
  const unit = (model: string) => `llama-server@${model}.service`;

  test("stops the others before it starts the asked one, and says what runs", async () => {
    const { run, calls } = await box();
    expect((await run("status")).stdout).toBe("");
    expect((await run("coder")).code).toBe(0);
    expect((await run("llama-3.3-70b")).code).toBe(0);
    expect((await calls("start", "stop")).slice(-2)).toEqual([
      `stop ${unit("coder")}`,
      `start ${unit("llama-3.3-70b")}`,
    ]);
    expect((await run("status")).stdout).toBe("llama-3.3-70b: loaded\n");
    expect((await run("llama-3.3-70b")).code).toBe(0);
    expect((await run("status")).stdout).toBe("llama-3.3-70b: loaded\n");
  });

  test("leaves the others alone with --beside, and unloads what it is told to", async () => {
    const { run, calls } = await box();
    await run("--beside", "coder");
    await run("--beside", "llama-3.3-70b");
    expect(await calls("stop")).toEqual([]);
    expect((await run("--beside", "status")).stdout).toBe("coder: loaded\nllama-3.3-70b: loaded\n");
    expect((await run("--beside", "unload", "coder")).code).toBe(0);
    expect((await run("unload", "coder")).code).toBe(0);
    expect((await run("status")).stdout).toBe("llama-3.3-70b: loaded\n");
  });

  test("fails with the last words of an engine that ends at once", async () => {
    const { folder, run } = await box();
    await writeFile(join(folder, `${unit("coder")}.bad`), "");
    expect(await run("coder")).toMatchObject({ code: 1, stderr: "cannot open the model\n" });
  });

  test.each(["other", "", "../coder", "coder.env/..", "-h", "a b"])(
    "refuses %j, which it does not know",
    async (name) => {
      const { run, calls } = await box();
      expect((await run(name)).code).toBe(2);
      expect((await run("unload", name)).code).toBe(2);
      expect(await calls("start", "stop")).toEqual([]);
    },
  );
});

/** Services are files: one that is told to go stays for two looks, and the order to go fails meanwhile. */
const LAUNCHCTL = `
service=$(basename "$2")
case $1 in
  print)
    [ -f "$service.up" ] || exit 113
    if [ -f "$service.going2" ]; then rm "$service.going2"; elif [ -f "$service.going" ]; then rm "$service.going" "$service.up"; fi
    ;;
  bootout) touch "$service.going" "$service.going2"; exit 36 ;;
  bootstrap) [ -f "$3" ] || exit 5; touch "$(basename "$3" .plist).up" ;;
esac
`;

describe("launchctl.sh", () => {
  const mac = () => machine("launchctl.sh", "launchctl", LAUNCHCTL, ["farm.gemma-3-12b.plist", "farm.qwen3-8b.plist"]);

  test("starts a service only after the other one has gone, and starts none twice", async () => {
    const { folder, run, calls } = await mac();
    expect((await run("qwen3-8b")).code).toBe(0);
    expect((await run("qwen3-8b")).code).toBe(0);
    expect((await calls("bootstrap", "bootout")).map((call) => call.split(" ")[2])).toEqual([
      join(folder, "farm.qwen3-8b.plist"),
    ]);
    expect((await run("gemma-3-12b")).code).toBe(0);
    const [out, start, ...more] = await calls("bootstrap", "bootout");
    expect([out?.endsWith("/farm.qwen3-8b"), start?.endsWith("/farm.gemma-3-12b.plist"), more]).toEqual([
      true,
      true,
      [],
    ]);
    expect((await run("status")).stdout).toBe("gemma-3-12b: loaded\n");
  });

  test("leaves the others alone with --beside, and unloads what it is told to", async () => {
    const { run, calls } = await mac();
    await run("--beside", "qwen3-8b");
    await run("--beside", "gemma-3-12b");
    expect((await run("status")).stdout).toBe("gemma-3-12b: loaded\nqwen3-8b: loaded\n");
    await calls();
    expect((await run("unload", "qwen3-8b")).code).toBe(0);
    expect((await run("unload", "qwen3-8b")).code).toBe(0);
    expect(await calls("bootout")).toHaveLength(1);
    expect((await run("status")).stdout).toBe("gemma-3-12b: loaded\n");
  });

  test.each(["other", "", "../farm"])("refuses %j, which it does not know", async (name) => {
    const { run } = await mac();
    expect((await run(name)).code).toBe(2);
    expect((await run("unload", name)).code).toBe(2);
  });
});

/** Containers are `coder` and `chat`, each of the model \`MODEL-NAME\`; a file NAME.up is one that runs. */
const DOCKER = `
case $1 in
  ps)
    case "$*" in
      *--all*label=farmgate.model=m-coder) echo coder ;;
      *--all*label=farmgate.model=m-chat) echo chat ;;
      *--format*) for up in *.up; do [ ! -f "$up" ] || echo "m-\${up%.up}\${5#*\\}\\}}"; done ;;
    esac
    ;;
  start) touch "$2.up"; echo "$2" ;;
  stop) rm -f "$4.up"; echo "$4" ;;
esac
`;

describe("docker.sh", () => {
  const host = () => machine("docker.sh", "docker", DOCKER);

  test("stops the others before it starts the asked one, and says what runs", async () => {
    const { run, calls } = await host();
    expect(await run("m-coder")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await run("m-chat")).code).toBe(0);
    expect(await calls("start", "stop")).toEqual(["start coder", "stop --time 30 coder", "start chat"]);
    expect((await run("m-chat")).code).toBe(0);
    expect(await calls("stop")).toEqual([]);
  });

  test("leaves the others alone with --beside, and unloads what it is told to", async () => {
    const { run, calls } = await host();
    await run("--beside", "m-coder");
    await run("--beside", "m-chat");
    expect(await calls("stop")).toEqual([]);
    expect((await run("--beside", "status")).stdout).toBe("m-chat: loaded\nm-coder: loaded\n");
    expect((await run("unload", "m-coder")).code).toBe(0);
    expect((await run("status")).stdout).toBe("m-chat: loaded\n");
  });

  test.each(["other", ""])("refuses %j, which it does not know", async (name) => {
    const { run } = await host();
    expect((await run(name)).code).toBe(2);
    expect((await run("unload", name)).code).toBe(2);
  });

  test("fails when Docker does", async () => {
    const { run } = await machine("docker.sh", "docker", "echo cannot connect >&2; exit 1\n");
    for (const words of [["m-coder"], ["status"], ["unload", "m-coder"]]) {
      expect(await run(...words)).toMatchObject({ code: 1, stderr: "cannot connect\n" });
    }
  });
});
