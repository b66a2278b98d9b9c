import { FarmError } from "@farmgate/shared";
import { listOf, numberOf, objectOf, pick } from "../json-fields.ts";
import { kindOf, lacking } from "../request-fields.ts";
import { isLenient } from "../dialect.ts";
import type { JsonObject, TranslationContext } from "../translation.ts";
import { toMessages } from "./input-messages.ts";
import type { Tools } from "./tools.ts";

/** Fields that chat has under another name or the same; engines take more of them for sampling than OpenAI does. */
const SAME = {
  max_output_tokens: "max_tokens",
  temperature: "temperature",
  top_p: "top_p",
  top_k: "top_k",
  min_p: "min_p",
  seed: "seed",
  stop: "stop",
  frequency_penalty: "frequency_penalty",
  presence_penalty: "presence_penalty",
  repeat_penalty: "repeat_penalty",
  logit_bias: "logit_bias",
  chat_template_kwargs: "chat_template_kwargs",
};

/** What asks for state that is kept nowhere here, and what to do in its place. */
const KEPT: Readonly<Record<string, string>> = {
  previous_response_id: "answers are not kept here: send the whole conversation as `input`",
  conversation: "conversations are not kept here: send the whole conversation as `input`",
  prompt: "no prompts are kept here: send `instructions` and `input`",
  background: "answers are not kept here: ask without it",
};

/** Chances of tokens, which are asked for in two ways. */
function refuseLogprobs(body: JsonObject): void {
  const inText = listOf(body["include"]).includes("message.output_text.logprobs");
  if (!inText && !numberOf(body["top_logprobs"])) return;
  throw lacking(
    inText ? "include" : "top_logprobs",
    "no worker with this model tells logprobs here: ask chat for them.",
  );
}

/**
 * A request of `/v1/responses` as one of chat. What changes nothing in the answer (`store`, `metadata`, `include`,
 * `truncation`, cache keys, service tiers) is left out. Throws the FarmError that refuses it.
 */
export function toChatBody(
  body: JsonObject,
  { model, engine }: TranslationContext,
  { tools, choice }: Tools,
): JsonObject {
  for (const [field, hint] of Object.entries(KEPT)) {
    const given = body[field];
    if (given !== undefined && given !== null && given !== false) {
      throw new FarmError("not_supported", `"${field}" is not supported by any worker with this model: ${hint}.`, {
        param: field,
      });
    }
  }
  refuseLogprobs(body);
  const streams = body["stream"] === true;
  const lenient = isLenient(engine);
  return {
    model,
    messages: toMessages(body, lenient),
    ...(tools.length > 0 ? { tools, ...pick(body, { parallel_tool_calls: "parallel_tool_calls" }) } : {}),
    ...(tools.length > 0 && choice !== undefined && choice !== null ? { tool_choice: choice } : {}),
    ...pick(body, SAME),
    ...pick(objectOf(body["reasoning"]), { effort: "reasoning_effort" }),
    ...responseFormat(objectOf(objectOf(body["text"])["format"])),
    stream: streams,
    // The last event of a response tells its usage.
    ...(streams && lenient ? { stream_options: { include_usage: true } } : {}),
  };
}

function responseFormat(format: JsonObject): object {
  switch (format["type"]) {
    case undefined:
    case "text":
      return {};
    case "json_object":
      return { response_format: { type: "json_object" } };
    case "json_schema": {
      const schema = pick(format, { name: "name", description: "description", schema: "schema", strict: "strict" });
      return { response_format: { type: "json_schema", json_schema: schema } };
    }
    default:
      throw lacking("text.format", `no worker with this model has a ${kindOf(format["type"])}.`);
  }
}
