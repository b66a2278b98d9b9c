// The end-to-end run: a real model behind the swap script, the agent and the gateway.
//   node run.mjs            through the built project, two folders up
//   node run.mjs --direct   straight to the engines
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { streamChat, waitFor } from "./client.mjs";
import { freePorts, lines, stopAll, swap } from "./processes.mjs";
import { directRig, farmRig, WORKER } from "./rigs.mjs";

const RUN_LIMIT_MS = 180_000;
const PROMPT = "Once upon a time";
/** What stories for small children are made of. */
const STORY_WORDS = new Set(
  `a all and are asked at big boy but came can could day dad did dog for friend friends from fun girl go great had
  happy he her him his home i in inside is it like liked lily little look looked love loved mom mommy named not of on
  one out outside park play played playing ran red sad said saw see she smiled so some something sorry that the their
  them then there they things time to toy toys tree upon very wanted was went were what when with would you`.split(
    /\s+/,
  ),
);

const root = fileURLToPath(new URL("../..", import.meta.url));
const direct = process.argv.includes("--direct");
const gguf = resolve(process.env.FARMGATE_TEST_MODEL ?? join(root, "../shared/models/stories260k.gguf"));
const hint = missing();
if (hint) {
  console.log(hint.text);
  process.exit(hint.code);
}

const folder = mkdtempSync(join(tmpdir(), "farmgate-real-engine-"));
const state = join(folder, "state");
mkdirSync(state);
const [portA, portB, agentPort, gatewayPort] = await freePorts(4);
const env = {
  ...process.env,
  FARMGATE_TEST_MODEL: gguf,
  REAL_ENGINE_STATE: state,
  REAL_ENGINE_PORT_A: String(portA),
  REAL_ENGINE_PORT_B: String(portB),
};
const engines = { "story-a": `http://127.0.0.1:${portA}`, "story-b": `http://127.0.0.1:${portB}` };
const place = { root, folder, env, engines, ports: { agent: agentPort, gateway: gatewayPort } };

let passed = 0;
let failed = 0;
let finishing = false;
/** @param {string} claim @param {boolean} holds @param {unknown} [found] */
function check(claim, holds, found) {
  if (holds) passed += 1;
  else failed += 1;
  console.log(holds ? `  ok    ${claim}` : `  FAIL  ${claim}, found: ${JSON.stringify(found)}`);
}

const limit = setTimeout(() => void finish("the run takes too long"), RUN_LIMIT_MS);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void finish("interrupted"));
// A request that fails while another is awaited must not keep the run from ending its processes.
process.on("unhandledRejection", (error) => void finish(messageOf(error)));
try {
  await scenario(direct ? directRig(place) : await farmRig(place));
  await finish();
} catch (error) {
  await finish(messageOf(error));
}

/** @param {import("./rigs.mjs").Rig} farm */
async function scenario(farm) {
  await farm.load("story-a");
  const models = await farm.models();
  console.log(`models: ${models.join(", ")}`);
  check(
    "every model is listed",
    (direct ? ["story-a"] : Object.keys(engines)).every((name) => models.includes(name)),
    models,
  );

  const first = await tell(farm, "story-a", PROMPT);
  checkWarmth(first, ["cold"]);
  await checkSwaps(farm, ["story-a"]);
  await farm.settled("story-a");
  await farm.load("story-a"); // a second call for the loaded model must change nothing
  await checkSwaps(farm, ["story-a"]);

  await (direct ? oneModelAfterTheOther(farm) : allAtOnce(farm));
  await checkSwaps(farm, ["story-a", "story-b"]);
  await farm.settled("story-b");

  await farm.load("story-a");
  const last = await tell(farm, "story-a", PROMPT);
  checkWarmth(last, ["cold"]);
  check("the same story is told again, byte for byte", last.text === first.text, last.text);
  await checkSwaps(farm, ["story-a", "story-b", "story-a"]);

  await hangUp(farm);
}

/**
 * Four more arrive while a long story is told, for both models by turns: in order of arrival that would be four swaps.
 * @param {import("./rigs.mjs").Rig} farm
 */
async function allAtOnce(farm) {
  console.log("five at once, in the order a b a b a:");
  /** @type {Promise<import("./client.mjs").Answer>[]} */
  const others = [];
  /** @type {Promise<number> | undefined} */
  let waiting;
  const opening = await tell(farm, "story-a", PROMPT, { max_tokens: 1500, ignore_eos: true }, () => {
    if (waiting) return;
    others.push(tell(farm, "story-b", "Lily and Tom went to the park"), tell(farm, "story-a", "One day, a little dog"));
    others.push(tell(farm, "story-b", "The cat was very sad"), tell(farm, "story-a", "Tim had a red ball"));
    waiting = mostWaiting(farm, others.length);
  });
  checkWarmth(opening, ["warm"]);
  const most = await waiting;
  check("the four wait at the agent while the first is answered", most === others.length, most);
  for (const answer of await Promise.all(others))
    checkWarmth(answer, answer.model === "story-a" ? ["warm"] : ["cold", "loading"]);
}

/**
 * The longest queue that the agent reports, until it is `enough` or two seconds have passed.
 * @param {import("./rigs.mjs").Rig} farm @param {number} enough
 */
async function mostWaiting(farm, enough) {
  let most = 0;
  const seen = waitFor(
    "the queue",
    async () => {
      most = Math.max(most, (await farm.agent()).queue_depth);
      return most >= enough ? true : undefined;
    },
    2000,
  );
  await seen.catch(() => {});
  return most;
}

/** @param {import("./rigs.mjs").Rig} farm */
async function oneModelAfterTheOther(farm) {
  await Promise.all(
    ["Once upon a time", "One day, a little dog", "Tim had a red ball"].map((text) => tell(farm, "story-a", text)),
  );
  await farm.load("story-b");
  await Promise.all(
    ["Lily and Tom went to the park", "The cat was very sad"].map((text) => tell(farm, "story-b", text)),
  );
}

/** A caller who leaves ends the work on the engine, and the next one is served. @param {import("./rigs.mjs").Rig} farm */
async function hangUp(farm) {
  const endless = { ...ask("story-a", PROMPT), max_tokens: 100_000, ignore_eos: true };
  await streamChat(farm.base("story-a"), endless, () => false);
  const line = await waitFor("the engine to notice that the caller left", async () =>
    lines(join(state, "story-a.log")).findLast((text) => text.includes('"finish":"cancelled"')),
  );
  check("the engine stops when the caller hangs up", JSON.parse(line).tokens < 20_000, line);
  await tell(farm, "story-a", "After that");
}

/** @param {string} model @param {string} content */
function ask(model, content) {
  return { model, messages: [{ role: "user", content }], max_tokens: 120, temperature: 0 };
}

/**
 * Asks for a story and checks it.
 * @param {import("./rigs.mjs").Rig} farm @param {string} model @param {string} prompt
 * @param {object} [more] of the request's body @param {() => void} [onPiece]
 */
async function tell(farm, model, prompt, more, onPiece) {
  const answer = await streamChat(farm.base(model), { ...ask(model, prompt), ...more }, onPiece);
  const { text, pieces, worker, warmth } = answer;
  const rate = `${pieces} pieces, first after ${Math.round(answer.firstMs)} ms, all after ${Math.round(answer.totalMs)} ms`;
  const said = direct ? "" : `; x-farmgate-worker: ${worker}, x-farmgate-warmth: ${warmth}`;
  console.log(`${model}: "${prompt}" -> "${text.slice(0, 110).replaceAll("\n", " ")}..." (${rate}${said})`);
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const known = words.filter((word) => STORY_WORDS.has(word)).length;
  check(`${model} tells a story in real words`, words.length >= 20 && known / words.length >= 0.5, {
    known,
    of: words.length,
  });
  check(`${model} streams it in pieces to the end`, pieces >= 20 && answer.done && answer.finish !== null, {
    pieces,
    done: answer.done,
    finish: answer.finish,
  });
  check(`${model} itself answered`, answer.model === model, answer.model);
  if (!direct) check(`${WORKER} is named as the worker`, worker === WORKER, worker);
  return answer;
}

/** @param {import("./client.mjs").Answer} answer @param {string[]} allowed */
function checkWarmth(answer, allowed) {
  if (!direct) check(`warmth is ${allowed.join(" or ")}`, allowed.includes(answer.warmth ?? ""), answer.warmth);
}

/** @param {import("./rigs.mjs").Rig} farm @param {string[]} expected the models, in the order of their starts */
async function checkSwaps(farm, expected) {
  const started = lines(join(state, "swaps.log")).map((line) => line.split(" ")[1]);
  check(`engine starts so far: ${expected.join(", ")}`, started.join() === expected.join(), started);
  if (direct) return;
  const { swaps } = await farm.agent();
  check(`the agent counts ${expected.length} swaps`, swaps === expected.length, swaps);
}

/** Ends every process of the run, says how it went and leaves. @param {string} [trouble] */
async function finish(trouble) {
  if (finishing) return;
  finishing = true;
  clearTimeout(limit);
  if (trouble) check("the run comes to its end", false, trouble);
  for (const { title, code } of await stopAll()) check(`the ${title} ends with 0`, code === 0, code);
  for (const model of Object.keys(engines)) await swap(env, "unload", model);
  check("no engine is left", (await swap(env, "status")) === "", "an engine that still runs");
  if (failed > 0) {
    for (const name of ["agent.log", "gateway.log", "state/story-a.log", "state/story-b.log"])
      console.log([`--- ${name}`, ...lines(join(folder, name)).slice(-15)].join("\n"));
    console.log(`everything of this run is in ${folder}`);
  } else {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

/** @param {unknown} error */
function messageOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.message} (${error.cause})` : error.message;
}

/** Why there is nothing to run, if so. */
function missing() {
  const skip = (/** @type {string} */ text) => ({ code: 0, text: `Skipped: ${text}` });
  if (!existsSync(new URL("node_modules/node-llama-cpp", import.meta.url)))
    return skip("the model library is not installed; run `npm ci` in test/real-engine.");
  if (!existsSync(gguf)) return skip(`there is no model file ${gguf}; set FARMGATE_TEST_MODEL to a GGUF file.`);
  if (!direct && !existsSync(join(root, "cli", "dist", "main.js")))
    return { code: 1, text: "Farmgate is not built; run `npm ci && npm run build` in its folder first." };
}
