import type { Hub } from "../together/hub.ts";

interface TogetherView {
  together?: { members: number; trouble: string | null };
}

/** How it stands with the gateways that act as one; nothing of a gateway that is the only one. */
export function togetherView(hub: Pick<Hub, "isShared" | "members" | "trouble">): TogetherView {
  return hub.isShared ? { together: { members: hub.members().length, trouble: hub.trouble } } : {};
}
