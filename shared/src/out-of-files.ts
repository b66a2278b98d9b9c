/**
 * Whether a connection failed by this system code because the program, or its machine, may not open another file: that
 * says nothing of whoever was to be reached.
 */
export function isOutOfFiles(code: string): boolean {
  return code === "EMFILE" || code === "ENFILE";
}
