import { FarmError } from "@farmgate/shared";
import { numberOf, objectOf, pick, textOf } from "./json-fields.ts";
import { neverStreams } from "./never-streams.ts";
import { TranslationError, type Translator } from "./translation.ts";

/**
 * `/v1/rerank` over Text Embeddings Inference, which answers with the list alone, best first. It counts no tokens, and
 * takes no more texts at once than its owner set.
 */
export const rerankToTei: Translator = (body, { model }) => {
  const texts = textsOf(body["documents"] ?? body["texts"]);
  const { query } = body;
  if (typeof query !== "string") throw wrong("query", "must be a text");
  const most = numberOf(body["top_n"]) ?? texts.length;
  const withTexts = body["return_documents"] === true || body["return_text"] === true;
  return {
    api: "tei-rerank",
    body: { model, query, texts, ...pick(body, { truncate: "truncate", raw_scores: "raw_scores" }) },
    ...neverStreams((answer) => {
      if (!Array.isArray(answer)) throw new TranslationError("an answer that is no list of scores");
      const results = answer.slice(0, most).map((entry) => resultOf(objectOf(entry), withTexts ? texts : null));
      return { model, object: "list", results };
    }),
  };
};

function resultOf({ index, score }: Readonly<Record<string, unknown>>, texts: readonly string[] | null): object {
  const at = numberOf(index);
  const relevance = numberOf(score);
  if (at === null || relevance === null) throw new TranslationError("a result without its place or its score");
  return { index: at, relevance_score: relevance, ...(texts === null ? {} : { document: { text: texts[at] ?? "" } }) };
}

function textsOf(documents: unknown): string[] {
  if (!Array.isArray(documents)) throw wrong("documents", "must be a list of texts");
  return documents.map((document) => {
    const text = typeof document === "string" ? document : textOf(objectOf(document)["text"]);
    if (text === "") throw wrong("documents", "must hold texts, none of them empty");
    return text;
  });
}

function wrong(param: string, what: string): FarmError {
  return new FarmError("invalid_request", `"${param}" ${what}.`, { param });
}
