import { z } from "zod";
import { format } from "./format.ts";
import { keepAlive } from "./load.ts";
import { options } from "./options.ts";
import { think } from "./think.ts";

/** What may be asked of an answer, of a chat's and of a prompt's alike. */
export const wishes = {
  stream: z.boolean().nullish(),
  format,
  think,
  options,
  keep_alive: keepAlive,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().nullish(),
};
