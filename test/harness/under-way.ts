import { getJson } from "./ask.ts";
import { until } from "./until.ts";

/** Resolves when the gateway serves no request any more. */
export async function nothingUnderWay(url: string): Promise<void> {
  await until(async () => {
    const { requests } = await getJson<{ requests: object[] }>(`${url}/farm/requests`);
    return requests.length === 0;
  }, "nothing is under way");
}
