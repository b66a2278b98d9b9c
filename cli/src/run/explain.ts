import type { Api } from "@farmgate/shared";
import { EXIT } from "../exit-code.ts";
import { callGateway } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readExplanation, renderExplanation } from "../render/explanation.ts";

export interface ExplainOptions {
  api: Api;
  gateway: string;
  key?: string;
  json?: boolean;
}

export async function explain(model: string, options: ExplainOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const answer = await callGateway(gateway, "/farm/explain", { model, api: options.api });
  if (options.json === true) io.stdout.write(`${JSON.stringify(answer)}\n`);
  else io.stdout.write(renderExplanation(model, readExplanation(answer), io.stdout.columns() ?? Infinity));
  return EXIT.ok;
}
