import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for the files of one test file. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "farmgate-e2e-"));

  /** Writes a file and gives its path. */
  write(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text);
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
