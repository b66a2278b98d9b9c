import type { CatalogEvent } from "../catalog/types.ts";

/** An event as it is told: its moment is `ageMs` ago. In it the moment stands on the clock of who saw it. */
export interface ToldEvent {
  event: CatalogEvent;
  ageMs: number;
}

/**
 * What others are told of an event that changed something here; null: nothing.
 *
 * 1. What comes from the owner is not seen: the configuration each has itself, and drains go by their own news.
 * 2. Polls have news of their own.
 * 3. That no connection came about may lie with the way from here: others find that out by themselves.
 */
export function toldOf(event: CatalogEvent, now: number): ToldEvent | null {
  switch (event.type) {
    // 1
    case "configured":
    case "drain":
    case "resume":
    // 2
    case "polled":
      return null;
    case "faulted":
      // 3
      return event.unreached === true ? null : { event, ageMs: Math.max(0, now - event.sentAt) };
    case "silent":
      return { event, ageMs: Math.max(0, now - event.sentAt) };
    case "answered":
    case "tried":
    case "trial_over":
      return { event, ageMs: Math.max(0, now - event.at) };
    case "refused":
    case "disowned":
    case "load_failed":
    case "served":
      return { event, ageMs: 0 };
  }
}

/** The event as if it had been seen here: its moment on this gateway's clock. */
export function asSeenHere({ event, ageMs }: ToldEvent, now: number): CatalogEvent {
  const moment = now - ageMs;
  switch (event.type) {
    case "faulted":
    case "silent":
      return { ...event, sentAt: moment };
    case "answered":
    case "tried":
    case "trial_over":
      return { ...event, at: moment };
    case "configured":
    case "drain":
    case "resume":
    case "polled":
    case "refused":
    case "disowned":
    case "load_failed":
    case "served":
      return event;
  }
}
