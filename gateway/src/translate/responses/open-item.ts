/** Writes one event, numbered. */
export type Emit = (type: string, data: object) => string;

export type ItemStatus = "completed" | "incomplete";

/** One item of a response's output while it is written. Each step gives the events that tell it. */
export interface OpenItem {
  open(): string;
  add(text: string): string;
  /** No more comes. */
  close(status: ItemStatus): string;
  /** The finished item. */
  toItem(status: ItemStatus): object;
}
