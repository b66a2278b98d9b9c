import { plainText } from "@farmgate/shared";
import { tlsTrouble } from "@farmgate/wire";
import { CommandError } from "./exit-code.ts";
import { type JsonAnswer, getJson } from "./get-json.ts";

export const PATIENCE_MS = 10_000;

export interface GatewayAccess {
  /** Without a trailing slash. */
  url: string;
  key: string | null;
}

/** One call of the gateway's own paths. Throws a CommandError that says what is wrong in words. */
export async function callGateway(gateway: GatewayAccess, path: string, body?: unknown): Promise<unknown> {
  const answer = await ask(gateway, path, body);
  if (answer.status >= 200 && answer.status < 300 && answer.value !== undefined) return answer.value;
  throw refused(gateway, path, answer);
}

/** What a gateway's refusal means, in words. */
export function refused(gateway: GatewayAccess, path: string, { status, value }: JsonAnswer): CommandError {
  const told = errorMessage(value);
  if (status === 401) {
    const wish = gateway.key === null ? "wants a key" : "does not know this key";
    return new CommandError(`${gateway.url} ${wish}: give one with --key or in FARMGATE_KEY`);
  }
  if (told !== "" && status !== 404) return new CommandError(`${gateway.url}${path} answered ${status}: ${told}`);
  const what = value === undefined ? `${status} and no JSON` : `${status}`;
  return new CommandError(`${gateway.url}${path} answered ${what}: is that a Farmgate gateway?`);
}

async function ask(gateway: GatewayAccess, path: string, body: unknown): Promise<JsonAnswer> {
  const method = body === undefined ? "GET" : "POST";
  try {
    return await getJson(gateway.url + path, { method, key: gateway.key, body, timeoutMs: PATIENCE_MS });
  } catch (error) {
    throw noAnswer(gateway, error);
  }
}

/** What a gateway that was not reached means, in words. */
export function noAnswer(gateway: GatewayAccess, error: unknown): CommandError {
  return new CommandError(`no answer from a gateway at ${gateway.url}: ${reason(error)}`);
}

function reason(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "nothing listens there (start it with: farmgate up)";
  const tls = tlsTrouble(code ?? "");
  if (tls !== null) return `${tls}; NODE_EXTRA_CA_CERTS names a file with more authorities to trust`;
  if (name === "TimeoutError" || code === "UND_ERR_HEADERS_TIMEOUT") return `nothing came in ${PATIENCE_MS / 1_000} s`;
  return code ?? message;
}

/** The message of an OpenAI-shaped error; empty for anything else. */
function errorMessage(value: unknown): string {
  const error = (value as { error?: { message?: unknown } } | null | undefined)?.error;
  return typeof error?.message === "string" ? plainText(error.message) : "";
}
