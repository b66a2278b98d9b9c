/** Why a file cannot be called so below the folder of models, in words that follow its name; null: it can. */
export function whyNoFileName(path: string): string | null {
  if (path === "" || path.length > 500) return "must have 1 to 500 characters";
  // oxlint-disable-next-line no-control-regex
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return "must not hold backslashes or control characters";
  if (path.startsWith("/")) return "must be relative to `files.directory`";
  const steps = path.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..")) return "must not hold empty steps, . or ..";
  return steps.some((step) => step.startsWith(".")) ? "must not be hidden: no step begins with a dot" : null;
}
