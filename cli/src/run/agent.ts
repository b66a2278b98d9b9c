import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { formatProblem } from "@farmgate/shared";
import { createLog } from "@farmgate/wire";
import { longestStopMs, startAgent } from "@farmgate/worker-agent";
import { agentFiles, pairAnew } from "../config/certificate-files.ts";
import { Certificates } from "../config/certificates.ts";
import { agentPart } from "../config/agent-part.ts";
import { openConfig } from "../config/open-config.ts";
import { scriptEnvironment } from "../config/script-environment.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { renewOnChange } from "../renew-certificates.ts";
import { listening } from "../listening.ts";
import { fileState, reloadOnChange } from "../reload-on-change.ts";

export async function runAgent(file: string, name: string | null, io: Io): Promise<void> {
  const known = fileState(file);
  const opened = await openConfig(file, io.env);
  const found = new Certificates(opened, io.clock.wall());
  const part = agentPart(opened, name);
  const { config, tls } = await agentFiles(opened, part, found);
  found.orThrow();
  const log = createLog(`agent ${config.name}`);
  for (const warning of found.warnings) log.warn(formatProblem(warning, file));
  const agent = await listening(
    () =>
      startAgent({
        config,
        tls,
        directory: opened.directory,
        environment: scriptEnvironment(io.env, opened.document),
        clock: io.clock,
        random: io.random,
        log,
        version: io.version,
      }),
    config.listen,
    `listen.port in ${file}`,
  );
  const watching = reloadOnChange({
    file,
    known,
    read: async () => agentPart(await openConfig(file, io.env), name),
    reload(next) {
      const restartNeeded = changedKeys(part, next);
      // Of a farm file most changes are about others: those are not worth a line.
      return { applied: opened.kind === "farm", restartNeeded };
    },
    clock: io.clock,
    log,
  });
  const take = async () => {
    const pair = await pairAnew(opened, config.tls, io.clock.wall());
    if (pair !== null) agent.renew(pair);
  };
  const renewing = renewOnChange({ take, log });
  // Whom it trusts waits for a restart, as all that it holds its engines by.
  const shown = config.tls === null ? [] : [config.tls.cert, config.tls.key];
  renewing.watch(shown.map((path) => resolve(opened.directory, path)));
  const close = () => {
    watching.stop();
    renewing.stop();
    return agent.close();
  };
  const drainMs = () => longestStopMs(config);
  await graceful({ io, log, drainMs, close, onHangUp: () => watching.look() }).ended;
}

/** An agent holds models, queues and engines by what it was started with: a change of its file waits for a restart. */
function changedKeys<T extends object>(before: T, next: T): string[] {
  const keys = Object.keys({ ...before, ...next }) as (keyof T & string)[];
  return keys.filter((key) => !isDeepStrictEqual(before[key], next[key]));
}
