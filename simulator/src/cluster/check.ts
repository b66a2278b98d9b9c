import type { Trace } from "../trace/types.ts";
import type { ClusterState } from "./state.ts";
import type { Application } from "./types.ts";

/** Throws a RangeError when the trace cannot be replayed. */
export function checkTrace(trace: Trace, applications: readonly Application[]): void {
  const { at, app, input, output } = trace;
  if (app.length !== at.length || input.length !== at.length || output.length !== at.length) {
    throw new RangeError("the columns of the trace have different lengths");
  }
  for (let request = 0; request < at.length; request++) {
    const time = at[request] as number;
    if (!(time >= 0) || (request > 0 && time < (at[request - 1] as number))) {
      throw new RangeError(`request ${request} of the trace comes before the one in front of it`);
    }
    if ((app[request] as number) >= applications.length) {
      throw new RangeError(`request ${request} of the trace is for an application that is not there`);
    }
  }
}

/** Throws when a run left something behind: what is wrong then is the simulator. */
export function checkEnd(state: ClusterState): void {
  const { requests, trace, parameters } = state;
  const wrong: string[] = [];
  const want = (holds: boolean, what: string) => {
    if (!holds && wrong.length < 10) wrong.push(what);
  };
  want(requests.ended === trace.at.length, `${requests.ended} of ${trace.at.length} requests ended`);
  want(requests.live === 0, `${requests.live} requests are under way`);
  want(
    state.holders.every((holder) => holder === null),
    "a request that ended has state on an engine",
  );
  state.waiting.forEach(({ size }, app) => want(size === 0, `${size} requests of application ${app} wait`));
  state.handovers.forEach(({ length }, app) => want(length === 0, `${length} hand-overs of application ${app} wait`));
  let occupied = 0;
  state.pools.forEach((pool, device) => {
    const holders = state.onDevice[device] ?? [];
    if (holders.length > 0) occupied += 1;
    let weights = 0;
    for (const { app } of holders) {
      const { weightBytes, tensorParallel } = (state.applications[app] as Application).model;
      weights += Math.ceil(weightBytes / (tensorParallel * parameters.pageBytes));
    }
    want(pool.statePages === 0, `${pool.statePages} pages of state are left on device ${device}`);
    want(pool.weightPages === weights, `device ${device} has ${pool.weightPages} pages of weights for ${weights}`);
    want(weights <= pool.pages, `device ${device} is over its memory`);
    want(state.prefillsOn[device] === 0, `device ${device} still reads a prompt`);
    want(state.decodesOn[device] === 0, `device ${device} still decodes`);
  });
  want(occupied === state.occupied, `${occupied} devices are occupied, ${state.occupied} were counted`);
  for (const { id, running, engines } of state.instances) {
    want(running === 0, `instance ${id} works at ${running} requests`);
    for (const engine of engines) {
      const left = engine.batch.size + engine.incoming + engine.held + engine.statePages;
      want(left === 0 && engine.prefilling < 0, `an engine of instance ${id} is not empty`);
    }
  }
  if (wrong.length > 0) throw new Error(`the simulated cluster does not balance: ${wrong.join("; ")}`);
}
