import { file } from "@farmgate/shared";
import { z } from "zod";
import { parseRedisUrl } from "./redis-address.ts";

const url = z.string("must be a URL such as redis://HOST:6379").superRefine((text, context) => {
  const address = parseRedisUrl(text);
  if (typeof address === "string") context.addIssue(address);
});

/** Where several gateways meet that act as one; null: there is one. A URL is short for its `url`. */
export const redisSettings = z
  .preprocess(
    (value) => (typeof value === "string" ? { url: value } : value),
    z
      .strictObject({
        url,
        /** Gateways of this name act as one; others may share the server. */
        farm: z
          .string()
          .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must be letters, digits, . _ and -, at most 64")
          .default("farm"),
        /** Who may have signed its certificate; null: whom this machine trusts. In the file a file's name, here its text. */
        ca: file.nullable().default(null),
      })
      .nullable(),
  )
  .default(null);

export type RedisSettings = z.output<typeof redisSettings>;
