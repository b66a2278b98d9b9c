import { BlockList, isIP } from "node:net";

/** Whether an address is one of these or in one of these ranges. An IPv4 address written as IPv6 is the IPv4 one. */
export function addressList(listed: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of listed) {
    const [address = "", prefix] = entry.split("/");
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address) => {
    const bare = address.replace(/%.*$/, "");
    return isIP(bare) !== 0 && list.check(bare, familyOf(bare));
  };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
