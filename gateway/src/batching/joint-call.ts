import { requestHeadersForWorker } from "@farmgate/shared";
import type { Relay } from "@farmgate/wire";
import { Call, type CallStart } from "../proxy/call.ts";
import { GatheredAnswer } from "./gathered-answer.ts";
import { commonHeaders } from "./join-inputs.ts";

/**
 * Several requests on their way to one worker as one: routed, counted and tried as any other. Its answer is for none
 * of the callers as it is, so it is gathered. Each of `members` still has its own request, answer and account.
 */
export class JointCall extends Call {
  readonly answer = new GatheredAnswer(this.tap);
  readonly #rawHeaders: readonly string[];

  constructor(start: CallStart, members: readonly Call[]) {
    super(start);
    const common = commonHeaders(members.map((call) => requestHeadersForWorker(call.rawHeaders)));
    this.#rawHeaders = ["content-type", "application/json", ...withoutBodyHeaders(common)];
  }

  override get rawHeaders(): readonly string[] {
    return this.#rawHeaders;
  }

  override get isGathered(): boolean {
    return true;
  }

  override relay(): Relay {
    return this.answer;
  }
}

function withoutBodyHeaders(flat: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] ?? "";
    if (!/^content-/i.test(name)) kept.push(name, flat[i + 1] ?? "");
  }
  return kept;
}
