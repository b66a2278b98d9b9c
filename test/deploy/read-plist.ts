export type Plist = string | number | boolean | Plist[] | { [key: string]: Plist };

/** Reads an XML property list of the kinds that launchd's services have; throws where it is not well formed. */
export function readPlist(xml: string): Plist {
  const text = xml
    .replaceAll(/<\?.*?\?>|<!DOCTYPE[^>]*>|<!--.*?-->/gs, "")
    .replace(/^\s*<plist[^>]*>/, "")
    .replace(/<\/plist>\s*$/, "");
  const tokens = [...text.matchAll(/<(\/?)(\w+)(\/?)>|([^<]+)/g)].filter(([all]) => all.trim() !== "");
  if (tokens.reduce((sum, [all]) => sum + all.length, 0) !== text.replaceAll(/>\s+</g, "><").trim().length) {
    throw new Error("something is neither a tag nor text");
  }
  let at = 0;
  const next = () => tokens[at++]?.[0] ?? "";
  const take = (wanted: string) => {
    const found = next();
    if (found !== wanted) throw new Error(`${wanted} was expected, and not ${found}`);
  };
  const content = (tag: string) => {
    const found = next();
    if (found === `</${tag}>`) return "";
    take(`</${tag}>`);
    return found.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  };
  const value = (): Plist => {
    const tag = next();
    switch (tag) {
      case "<true/>":
        return true;
      case "<false/>":
        return false;
      case "<string>":
        return content("string");
      case "<integer>":
        return Number(content("integer"));
      case "<array>": {
        const items: Plist[] = [];
        while (tokens[at]?.[0] !== "</array>") items.push(value());
        at += 1;
        return items;
      }
      case "<dict>": {
        const dict: { [key: string]: Plist } = {};
        while (tokens[at]?.[0] !== "</dict>") {
          take("<key>");
          dict[content("key")] = value();
        }
        at += 1;
        return dict;
      }
      default:
        throw new Error(`not a value: ${tag}`);
    }
  };
  const whole = value();
  if (at !== tokens.length) throw new Error("there is something behind the value");
  return whole;
}
