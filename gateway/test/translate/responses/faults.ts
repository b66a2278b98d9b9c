export interface StreamEvent {
  type: string;
  sequence_number: number;
  output_index: number;
  item: { id: string; type: string; status: string };
  item_id: string;
  response: { status: string };
}

/** Where the events break the grammar of a response: what may follow what. It may break off. Empty: nowhere. */
export function faultsOf(events: readonly StreamEvent[]): string[] {
  const faults: string[] = [];
  const open = new Map<number, string>();
  let added = 0;
  const last = events.length - 1;
  for (const [i, event] of events.entries()) {
    const { type, output_index: at } = event;
    const isRight = () => {
      if (i === 0) return type === "response.created";
      if (i === 1) return type === "response.in_progress";
      const isEnd = /^response\.(completed|incomplete)$/.test(type);
      if (isEnd) return i === last && open.size === 0 && type === `response.${event.response.status}`;
      if (type === "response.output_item.added") return at === added && event.item.status === "in_progress";
      return open.get(at) === (type === "response.output_item.done" ? event.item.id : event.item_id);
    };
    if (event.sequence_number !== i || !isRight()) faults.push(`${i}: ${JSON.stringify(event)}`);
    if (type === "response.output_item.done") open.delete(at);
    if (type !== "response.output_item.added") continue;
    open.set(at, event.item.id);
    added += 1;
  }
  return faults;
}
