import { type Adapter, PLAIN } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { openai } from "./openai.ts";

/**
 * `mlx_lm.server`: lists what the disk has, loads whatever a request names, keeps one model and never tells which.
 * Its 404 stands for an unknown model as well as for a failed load; both set the pair aside. A request of a wrong form
 * it answers by closing the connection. It speaks HTTP/1.0 and wants a Content-Length with every body.
 */
export const mlx: Adapter = {
  ...PLAIN,
  engine: "mlx",
  catalogPath: "/v1/models",
  swapsUnseen: true,
  loadsOnRequest: true,
  dropsBadRequests: true,
  parse(main, extra) {
    const report = openai.parse(main, extra);
    return report === null ? null : { ...report, refusesUnknown: false };
  },
  meaning: (answer) => meaningOf(answer, []),
};
