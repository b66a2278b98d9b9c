import { FarmError } from "@farmgate/shared";
import { textOf } from "../json-fields.ts";
import type { JsonObject, StreamTranslation, TranslationContext, Translator } from "../translation.ts";
import { refuseWhatOllamaLacks, toOptions, wantsUsage } from "./options.ts";
import { finishOf, readLine, readWhole, usageOf } from "./read-line.ts";

/** OpenAI's completions over Ollama's generate: the prompt as it is, without the model's template. */
export const completionsToGenerate: Translator = (body, context) => {
  const stream = () => translateStream(body, context);
  return {
    api: "ollama-generate",
    body: toBody(body, context),
    streams: body["stream"] === true,
    whole(answer) {
      const done = readWhole(answer);
      const choices = [choiceOf(textOf(done["response"]), finishOf(done))];
      return { ...headOf(context, done), choices, usage: usageOf(done) };
    },
    wholeAsStream: (answer) => stream().line(readWhole(answer)),
    stream: () => stream(),
  };
};

function toBody(body: JsonObject, { model }: TranslationContext): JsonObject {
  refuseWhatOllamaLacks(body);
  const { suffix } = body;
  // The text between two others is asked for by the model's template.
  const form = suffix === undefined || suffix === null || suffix === "" ? { raw: true } : { suffix };
  return { model, prompt: promptOf(body["prompt"]), ...form, stream: body["stream"] === true, ...toOptions(body) };
}

function promptOf(prompt: unknown): string {
  const one = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof one === "string") return one;
  const param = "prompt";
  if (!Array.isArray(one)) throw new FarmError("invalid_request", '"prompt" must be a text.', { param });
  const message = "The workers with this model take one prompt, as text: no list of prompts and no tokens.";
  throw new FarmError("not_supported", message, { param });
}

function translateStream(body: JsonObject, context: TranslationContext) {
  const usage = wantsUsage(body);
  let isDone = false;
  const chunk = (line: JsonObject, choices: object[], told: object | null) =>
    `data: ${JSON.stringify({ ...headOf(context, line), choices, ...(usage ? { usage: told } : {}) })}\n\n`;
  const write = (line: JsonObject): string => {
    if (isDone) return "";
    const text = textOf(line["response"]);
    const chunks = text === "" ? "" : chunk(line, [choiceOf(text, null)], null);
    if (line["done"] !== true) return chunks;
    isDone = true;
    const last = chunk(line, [choiceOf("", finishOf(line))], null);
    return `${chunks}${last}${usage ? chunk(line, [], usageOf(line)) : ""}data: [DONE]\n\n`;
  };
  const stream: StreamTranslation = { push: ({ data }) => write(readLine(data)), end: () => (isDone ? "" : null) };
  return { ...stream, line: write };
}

function choiceOf(text: string, finish: string | null): object {
  return { text, index: 0, logprobs: null, finish_reason: finish };
}

function headOf({ requestId, wallMs, model }: TranslationContext, line: JsonObject): object {
  const created = Math.floor(wallMs / 1_000);
  return { id: `cmpl-${requestId}`, object: "text_completion", created, model: textOf(line["model"]) || model };
}
