/** The path of a request target, without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** Path and query of a request target, which clients behind a proxy setting write with scheme and host in front. */
export function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(target);
  if (absolute === null) return target;
  const rest = target.slice(absolute[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** An address or a path without the slashes at its end, in one look at each: a pattern would go back to every slash. */
export function withoutLastSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/** Query fields in which some clients send their key, against all advice. None of them means anything to an engine. */
const KEY_FIELD = /^(key|api[_-]?key|access[_-]?token|token)$/i;

/** The target without the keys in its query; nothing else of it changes. */
export function withoutKeys(target: string): string {
  const at = target.indexOf("?");
  if (at < 0) return target;
  const fields = target.slice(at + 1).split("&");
  const kept = fields.filter((field) => !KEY_FIELD.test(fieldName(field)));
  if (kept.length === fields.length) return target;
  return kept.length === 0 ? target.slice(0, at) : `${target.slice(0, at)}?${kept.join("&")}`;
}

function fieldName(field: string): string {
  const name = field.split("=", 1)[0] ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
