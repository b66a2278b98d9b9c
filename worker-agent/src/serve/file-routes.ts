import { FarmError, pathOf } from "@farmgate/shared";
import type { Caller } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import type { FileKeeper } from "../files/file-keeper.ts";
import type { ModelFile } from "../files/model-files.ts";
import { sendFile } from "../files/send-file.ts";
import type { ControlContext } from "./control.ts";
import { mayUse } from "./allowed-model.ts";
import { decoded } from "./decoded.ts";

/** The models' files, for agents that fetch them: with a key, and of the models that it may use. */
export function addFiles(app: FastifyInstance, context: ControlContext): void {
  const { clock, metrics, models } = context;
  const isFor = (caller: Caller, file: ModelFile) =>
    file.models.some((name) => {
      const model = models.named(name);
      return model !== undefined && mayUse(caller, model);
    });
  app.get("/files", async ({ caller }) => {
    const keeper = keeperFor(context, caller);
    const entries = await keeper.list();
    return {
      files: entries.filter((_, i) => isFor(caller, keeper.files[i] as ModelFile)),
      sending: keeper.sendingNow(),
    };
  });
  app.get("/files/*", async (request, reply) => {
    const { caller, url } = request;
    const keeper = keeperFor(context, caller);
    const path = decoded(pathOf(url).slice("/files/".length));
    const file = keeper.files.find((one) => one.path === path);
    if (file === undefined || !isFor(caller, file))
      throw new FarmError("not_found", "No model of yours has such a file.");
    const sent = (bytes: number) => metrics.fileBytes("out", bytes);
    const taken = () => keeper.taken();
    return sendFile(request, reply, file.path, { shelf: keeper.shelf, rate: keeper.sending, clock, sent, taken });
  });
}

/** Never without a key, not even on this machine: weights are what others would come for. */
function keeperFor({ files }: ControlContext, { key }: Caller): FileKeeper {
  if (files === null) throw new FarmError("not_found", "This agent names no folder of models (`files.directory`).");
  if (key === null) throw new FarmError("forbidden", "Files of models are only for callers with a key: set `keys`.");
  return files;
}
