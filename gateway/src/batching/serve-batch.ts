import { BodyBytes, type ErrorCode, foundIn, HEADER, nameKey, scannerFor } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Served } from "../proxy/accounts.ts";
import type { Received } from "../proxy/call.ts";
import { joinInputs } from "./join-inputs.ts";
import type { Joiner } from "./joiner.ts";
import { JointCall } from "./joint-call.ts";
import type { Batch } from "./open-batches.ts";
import { splitAnswer } from "./split-answer.ts";

/**
 * Serves requests that have gathered. Never rejects.
 * (1) One alone goes as it came. (2) What ends the joint request for reasons of the farm (no worker, all busy, none in
 * time) would have ended each of them, and does. (3) Where it may be the fault of one of them or of their being
 * together, everyone is served again by itself, so that nobody suffers for another: the worker refuses the request,
 * breaks on it, or answers something else than a vector for each input. (4) Else each gets its own vectors.
 */
export async function serveBatch(farm: Farm, batch: Batch<Joiner>): Promise<void> {
  try {
    await serveTogether(farm, batch);
  } catch (thrown) {
    for (const joiner of batch.members) joiner.fail(thrown);
  }
}

async function serveTogether(farm: Farm, batch: Batch<Joiner>): Promise<void> {
  const joiners = [...batch.members];
  const [first, ...others] = joiners;
  if (first === undefined) return;
  const joint = others.length === 0 ? null : openJoint(farm, [first, ...others]);
  if (joint === null) return joiners.forEach((joiner) => void goAlone(farm, joiner)); // (1)
  const { call, received } = joint;
  batch.onEmpty = () => call.leave();
  farm.metrics.joined(joiners.length);
  const end = await endOf(first.serveAlone(farm, call, received));
  farm.live.leave(call);
  call.share.release();
  const waiting = joiners.filter((joiner) => batch.members.has(joiner));
  for (const joiner of waiting) noteJoint(joiner, call);
  if (end.kind === "farm") return waiting.forEach(end.settle); // (2)
  const parts = end.kind === "answered" ? splitAnswer(call.answer.body(), joiners.map(portionOf)) : null;
  if (parts === null) {
    farm.metrics.parted(end.kind === "answered" ? "unusable" : end.kind);
    const served = await Promise.all(waiting.map((joiner) => goAlone(farm, joiner))); // (3)
    const tooMany = end.kind !== "failed" && served.length === joiners.length && served.every(isGood);
    if (tooMany) noteLimit(farm, received, joiners);
    return;
  }
  for (const [i, joiner] of joiners.entries()) {
    const part = parts[i];
    if (part !== undefined && batch.members.has(joiner)) passOn(farm, joiner, call, part); // (4)
  }
}

/** Hands a request on to be served by itself; resolves with its end, null for one that failed inside the gateway. */
function goAlone(farm: Farm, { call, received, serveAlone, end }: Joiner): Promise<Served | null> {
  call.onGone(null);
  const serving = serveAlone(farm, call, received);
  end(serving);
  return serving.catch(() => null);
}

/** null: there is no memory for another body. */
function openJoint(
  farm: Farm,
  joiners: readonly [Joiner, ...Joiner[]],
): { call: JointCall; received: Received } | null {
  const [{ call: first, received }, ...others] = joiners;
  const [head, ...more] = joiners.map(({ received: { body }, read }) => ({ body: body.joined(), read }));
  if (head === undefined) return null;
  const bytes = joinInputs([head, ...more]);
  const share = farm.bodies.share();
  if (!share.grow(bytes.length)) return null;
  const { api, family, request, response, caller } = first;
  const arrivedAt = farm.clock.now();
  const start = { id: farm.ids.next(), api, family, request, response, cors: [], share, arrivedAt };
  const calls = [first, ...others.map((joiner) => joiner.call)];
  const call = new JointCall({ ...start, since: farm.clock.wall() }, calls);
  call.caller = caller;
  // Each of its members has its own place.
  call.leaveKey = () => {};
  call.receivedAt = arrivedAt;
  // A try for several stands in the trace of one; the others name the joint request.
  call.spans = first.spans;
  farm.live.enter(call);
  const scanner = scannerFor(api, []);
  scanner.push(bytes);
  return { call, received: { ...received, body: new BodyBytes([bytes]), scan: foundIn(scanner.finish()) } };
}

type JointEnd =
  /** A good answer, as it is. */
  | { kind: "answered" }
  /** A worker, or the translation for it, says that the request is at fault. */
  | { kind: "refused" }
  /** Every worker that was tried broke on it. */
  | { kind: "failed" }
  | { kind: "farm"; settle: (joiner: Joiner) => void };

/** Errors that one request may hear of, and another like it not. */
const OF_THE_REQUEST: Partial<Record<ErrorCode, "refused" | "failed">> = {
  invalid_request: "refused",
  not_supported: "refused",
  worker_failed: "failed",
};

async function endOf(serving: Promise<Served>): Promise<JointEnd> {
  try {
    const served = await serving;
    const { status, error } = served;
    if (status !== null) return { kind: status < 300 && error === null ? "answered" : "refused" };
    const kind = error === null ? undefined : OF_THE_REQUEST[error.code];
    return kind === undefined ? { kind: "farm", settle: ({ end }) => end(served) } : { kind };
  } catch (thrown) {
    return { kind: "farm", settle: ({ fail }) => fail(thrown) };
  }
}

/** What is told of a request that was joined: where it went, and how long it took. */
function noteJoint({ call, joinedAt }: Joiner, joint: JointCall): void {
  call.joinedAs = joint.id;
  call.model = joint.model;
  call.worker = joint.worker;
  call.upstreamModel = joint.upstreamModel;
  call.warmth = joint.warmth;
  call.weighed = joint.weighed;
  call.attempts = joint.attempts;
  call.firstSentAt = joint.firstSentAt;
  call.askedAt = joint.askedAt;
  call.waitedMs += joint.arrivedAt - joinedAt + joint.waitedMs;
}

function portionOf({ inputs, read }: Joiner) {
  return { inputs, weight: read.weights.reduce((sum, weight) => sum + weight, 0) };
}

function isGood(served: Served | null): boolean {
  return served !== null && served.status !== null && served.status < 300 && served.error === null;
}

/** Together they were too many, since one by one all of them were served. */
function noteLimit(farm: Farm, { model }: Received, joiners: readonly Joiner[]): void {
  const inputs = joiners.reduce((sum, joiner) => sum + joiner.inputs, 0);
  farm.batchLimits.refused(nameKey(model ?? ""), inputs, farm.clock.now());
}

const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  "content-length",
  "etag",
  "digest",
  "content-md5",
  HEADER.requestId,
]);

/** The joint answer's head with what holds for one caller's part of it alone. */
function passOn(farm: Farm, { call, end }: Joiner, joint: JointCall, part: Buffer): void {
  const { status, headers } = joint.answer;
  const own: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (!OF_THE_WHOLE.has(name.toLowerCase())) own.push(name, headers[i + 1] ?? "");
  }
  own.push("content-length", String(part.length), HEADER.requestId, call.id, ...call.ownHeaders);
  call.onGone(null);
  call.phase = "answering";
  call.firstByteAt = farm.clock.now();
  const relay = call.relay(() => {});
  relay.start(status, own);
  relay.write(part);
  relay.finish();
  end({ status, error: null });
}
