import { describe, expect, it } from "vitest";
import { addressList } from "../src/address-list.ts";

const isListed = addressList(["192.0.2.7", "10.1.2.3/8", "2001:db8::/32", "fe80::1", "::ffff:198.51.100.9"]);

describe("a list of addresses", () => {
  it.each([
    "192.0.2.7",
    "::ffff:192.0.2.7",
    "::ffff:c000:207",
    "10.255.0.1",
    "::ffff:10.9.9.9",
    "2001:db8:1::5",
    "2001:0DB8::1",
    "fe80::1%eth0",
    "198.51.100.9",
    "::ffff:198.51.100.9",
  ])("has %s", (address) => {
    expect(isListed(address)).toBe(true);
  });

  it.each(["192.0.2.8", "::ffff:192.0.2.8", "11.0.0.1", "2001:db9::1", "fe80::2", "", "box.lan", "192.0.2.7:80"])(
    "has not %j",
    (address) => {
      expect(isListed(address)).toBe(false);
    },
  );

  it("may be empty, or of all", () => {
    expect(addressList([])("127.0.0.1")).toBe(false);
    expect(addressList(["0.0.0.0/0"])("203.0.113.9")).toBe(true);
    expect(addressList(["0.0.0.0/0"])("2001:db8::1")).toBe(false);
  });
});
