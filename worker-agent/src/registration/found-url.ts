/** A gateway as it tells of itself on the local network. */
interface Found {
  host: string;
  port: number;
  addresses: readonly string[];
  txt: Readonly<Record<string, string>>;
}

/**
 * Where a gateway that was found is asked; null: not at all. `secure`: only by HTTPS will do. With HTTPS its machine's name
 * is asked, which its certificate is for; else its address, which every machine can use.
 */
export function foundUrl({ host, port, addresses, txt }: Found, secure: boolean): string | null {
  const byTls = txt["tls"] === "1";
  if (secure && !byTls) return null;
  const [address] = addresses;
  const place = byTls ? host.replace(/\.$/, "") : address;
  if (place === undefined || place === "" || !Number.isInteger(port) || port < 1 || port > 65_535) return null;
  // Of an IPv6 address that holds on one link alone nobody knows which link.
  if (/^fe80:/i.test(place)) return null;
  const url = `${byTls ? "https" : "http"}://${place.includes(":") ? `[${place}]` : place}:${port}`;
  return URL.canParse(url) && new URL(url).port === String(port) ? new URL(url).origin : null;
}
