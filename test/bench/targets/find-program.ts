import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where distributions put servers, which an ordinary user's PATH often leaves out. */
const ALSO = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** The full path of a program, or undefined where it is not installed. */
export function findProgram(name: string, path = process.env["PATH"] ?? ""): string | undefined {
  return [...path.split(delimiter), ...ALSO].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
