import { readdir, readFile } from "node:fs/promises";

/** Every living process that carries this text in its command line or its environment, whoever started it (Linux). */
export async function processesOf(text: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
      const [command, environment, stat] = await Promise.all([read("cmdline"), read("environ"), read("stat")]);
      const [state = "X"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const isOf = !/^[ZX]/.test(state) && (command.includes(text) || environment.includes(text));
      return isOf ? [{ pid, command: command.replaceAll("\0", " ").trim() }] : [];
    }),
  );
  return found.flat();
}
