import { plainText } from "@farmgate/shared";
import { tlsTrouble } from "@farmgate/wire";
import { CommandError } from "./exit-code.ts";
import { type JsonAnswer, getJson } from "./get-json.ts";

const PATIENCE_MS = 10_000;

export interface GatewayAccess {
  /** Without a trailing slash. */
  url: string;
  key: string | null;
}

/** One call of the gateway's own paths. Throws a CommandError that says what is wrong in words. */
export async function callGateway(gateway: GatewayAccess, path: string, body?: unknown): Promise<unknown> {
  const answer = await ask(gateway, path, body);
  if (answer.status >= 200 && answer.status < 300 && answer.value !== undefined) return answer.value;
  const told = errorMessage(answer.value);
  if (answer.status === 401) {
    const wish = gateway.key === null ? "wants a key" : "does not know this key";
    throw new CommandError(`${gateway.url} ${wish}: give one with --key or in FARMGATE_KEY`);
  }
  if (told !== "" && answer.status !== 404) {
    throw new CommandError(`${gateway.url}${path} answered ${answer.status}: ${told}`);
  }
  const what = answer.value === undefined ? `${answer.status} and no JSON` : `${answer.status}`;
  throw new CommandError(`${gateway.url}${path} answered ${what}: is that a Farmgate gateway?`);
}

async function ask(gateway: GatewayAccess, path: string, body: unknown): Promise<JsonAnswer> {
  const method = body === undefined ? "GET" : "POST";
  try {
    return await getJson(gateway.url + path, { method, key: gateway.key, body, timeoutMs: PATIENCE_MS });
  } catch (error) {
    throw new CommandError(`no answer from a gateway at ${gateway.url}: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "nothing listens there (start it with: farmgate up)";
  const tls = tlsTrouble(code ?? "");
  if (tls !== null) return `${tls}; NODE_EXTRA_CA_CERTS names a file with more authorities to trust`;
  if (name === "TimeoutError") return `nothing came in ${PATIENCE_MS / 1_000} s`;
  return code ?? message;
}

/** The message of an OpenAI-shaped error; empty for anything else. */
function errorMessage(value: unknown): string {
  const error = (value as { error?: { message?: unknown } } | null | undefined)?.error;
  return typeof error?.message === "string" ? plainText(error.message) : "";
}
