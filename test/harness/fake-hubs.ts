import { alone } from "../../gateway/src/together/alone.ts";
import type { Hub } from "../../gateway/src/together/hub.ts";
import type { News } from "../../gateway/src/together/news.ts";

/** Hubs of gateways that hear each other's news at once, and share nothing else. */
export function fakeHubs(count: number): Hub[] {
  const listeners = new Map<string, Set<(news: News, from: string) => void>>();
  return Array.from({ length: count }, (_, i): Hub => {
    const id = `hub-${i}`;
    const own = new Set<(news: News, from: string) => void>();
    listeners.set(id, own);
    return {
      ...alone(id),
      isShared: true,
      tell(news) {
        // As it goes over a wire.
        const told = JSON.parse(JSON.stringify(news)) as News;
        for (const [other, theirs] of listeners) if (other !== id) for (const listener of theirs) listener(told, id);
      },
      onNews(listener) {
        own.add(listener);
        return () => own.delete(listener);
      },
    };
  });
}
