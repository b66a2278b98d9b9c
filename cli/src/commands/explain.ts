import type { Api } from "@farmgate/shared";
import type { Command } from "commander";
import { EXIT } from "../exit-code.ts";
import { apiFlag, DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import { callGateway } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readExplanation, renderExplanation } from "../render/explanation.ts";

interface ExplainOptions {
  api: Api;
  gateway: string;
  key?: string;
  json?: boolean;
}

export function addExplainCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("explain")
    .description("Rank the workers for a model, with the reason for each place. Nothing is sent to a worker.")
    .argument("<model>", "the name that a caller would use")
    .option("--api <name>", "what the caller would ask for, as embeddings or speech", apiFlag, "chat")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .action(async (model: string, options: ExplainOptions) => finish(await explain(model, options, io)));
}

async function explain(model: string, options: ExplainOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const answer = await callGateway(gateway, "/farm/explain", { model, api: options.api });
  if (options.json === true) io.stdout.write(`${JSON.stringify(answer)}\n`);
  else io.stdout.write(renderExplanation(model, readExplanation(answer), io.stdout.columns() ?? Infinity));
  return EXIT.ok;
}
