import { isoTime } from "@farmgate/shared";
import type { ModelListEntry } from "./model-list.ts";

/** One entry of the list as Anthropic's callers read it. `created_at` is in RFC 3339. */
export interface AnthropicModel {
  type: "model";
  id: string;
  display_name: string;
  created_at: string;
  /** Tokens; null: not known. */
  max_input_tokens: number | null;
  max_tokens: null;
  lifecycle: "active";
  farmgate: ModelListEntry["farmgate"];
}

/** What a caller may say of the page that it wants. */
export interface PageQuery {
  limit?: string;
  after_id?: string;
  before_id?: string;
}

export function anthropicModel({ id, created, farmgate }: ModelListEntry): AnthropicModel {
  return {
    type: "model",
    id,
    display_name: id,
    created_at: isoTime(created * 1_000),
    max_input_tokens: farmgate.context_length,
    max_tokens: null,
    lifecycle: "active",
    farmgate,
  };
}

/** A page of the list: all of it, where no limit is set. An id that is not in the list is no boundary. */
export function anthropicPage(entries: readonly ModelListEntry[], { limit, after_id, before_id }: PageQuery): object {
  const from = entries.findIndex(({ id }) => id === after_id) + 1;
  const before = before_id === undefined ? -1 : entries.findIndex(({ id }) => id === before_id);
  const range = entries.slice(from, before < 0 ? undefined : before);
  const size = limit !== undefined && /^[1-9]\d{0,5}$/.test(limit) ? Number(limit) : range.length;
  const page = before < 0 ? range.slice(0, size) : range.slice(Math.max(0, range.length - size));
  const data = page.map(anthropicModel);
  return {
    data,
    has_more: page.length < range.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
