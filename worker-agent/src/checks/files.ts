import type { ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";
import { whyNoFileName } from "../files/file-name.ts";

/** Files of models need a folder; one file has one hash. */
export function checkFiles({ files, models }: AgentShape, report: ReportProblem): void {
  const hashes = new Map<string, string>();
  for (const [i, model] of models.entries()) {
    for (const [j, { path, sha256 }] of model.files.entries()) {
      const why = whyNoFileName(path);
      if (why !== null) report(["models", i, "files", j], why);
      const known = hashes.get(path);
      if (sha256 === null) continue;
      if (known !== undefined && known !== sha256)
        report(["models", i, "files", j], "has another hash at another model");
      hashes.set(path, sha256);
    }
  }
  const named = models.some((model) => model.files.length > 0);
  if (named && files.directory === null) report(["files", "directory"], "is needed: models name files in it");
  const seen = new Set<string>();
  for (const [i, { url }] of files.peers.entries()) {
    if (seen.has(url)) report(["files", "peers", i, "url"], "is another peer's already");
    seen.add(url);
  }
}
