import type { Api } from "@farmgate/shared";

const API_OF_KIND: Readonly<Record<string, Api>> = {
  embedding: "embeddings",
  embeddings: "embeddings",
  rerank: "rerank",
  audio: "transcriptions",
  image: "image-generations",
};

/** As what a trace's request for a model of this kind is asked. */
export function apiOf(kind: string): Api {
  return API_OF_KIND[kind] ?? "chat";
}
