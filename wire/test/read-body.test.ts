import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { BodyScanner } from "@farmgate/shared";
import { expect, it } from "vitest";
import { BodyRoom } from "../src/body-room.ts";
import { readBody } from "../src/read-body.ts";

/** A request that has come whole, its body in these pieces. */
function arriving(...pieces: string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const piece of pieces) request.push(Buffer.from(piece));
  request.complete = true;
  request.push(null);
  return request;
}

it("takes no more bodies than there is room for, and gives the room back", async () => {
  const room = new BodyRoom(10);
  const first = room.share();
  expect(String((await readBody(arriving("1234", "56"), 100, { share: first })).joined())).toBe("123456");
  expect(room.heldBytes).toBe(6);

  const second = room.share();
  const refused = readBody(arriving("123", "45"), 100, { share: second });
  await expect(refused).rejects.toMatchObject({ code: "queue_full", status: 503, retryAfterS: 5 });
  second.release();
  expect(room.heldBytes).toBe(6);

  first.release();
  first.release();
  expect(room.heldBytes).toBe(0);
  const third = room.share();
  await readBody(arriving("1234567890"), 100, { share: third });
  expect(room.heldBytes).toBe(10);
});

it("keeps nothing of a body that its scanner refuses, yet waits for its end and minds its length", async () => {
  const room = new BodyRoom(100);
  const share = room.share();
  const seen: string[] = [];
  const scanner: BodyScanner = {
    push: (bytes) => void seen.push(String(bytes)),
    get isRefused() {
      return seen.length > 1;
    },
    finish: () => ({ ok: false, message: "", param: null }),
  };
  const body = await readBody(arriving("1234", "56", "789"), 9, { share, scanner });
  expect(seen).toEqual(["1234", "56", "789"]);
  expect(body.length).toBe(0);
  expect(room.heldBytes).toBe(0);
  const larger = readBody(arriving("1234", "56", "7890"), 9, { share: room.share(), scanner });
  await expect(larger).rejects.toMatchObject({ code: "body_too_large" });
});
