/** An answer that is decided as a whole, and is the prompt's work alone. */
export interface WholePlan {
  promptTokens: number;
  /** Unset: JSON. */
  contentType?: string;
  body: string | Uint8Array;
}

/** One that is JSON. */
export interface JsonPlan extends WholePlan {
  body: string;
}

/** Events as OpenAI's audio APIs stream them: without an end mark of their own. */
export function eventsPlan(promptTokens: number, events: readonly object[]): WholePlan {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { promptTokens, contentType: "text/event-stream", body };
}
