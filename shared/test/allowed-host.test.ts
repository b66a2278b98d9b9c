import { describe, expect, it } from "vitest";
import { isAllowedHost } from "../src/allowed-host.ts";

const rules = { hosts: ["farm.example.com", "*.lab.example"], listenHost: "gate.intern.example", machine: "Box.local" };

describe("a Host", () => {
  it.each([
    "127.0.0.1:8400",
    "192.0.2.5",
    "[::1]:8400",
    "[2001:db8::1]",
    "localhost:8400",
    "LOCALHOST",
    "app.localhost",
    "box",
    "BOX.local:8400",
    "box.local.",
    "gate.intern.example:8400",
    "farmgate:8400",
    "host.docker.internal:8400",
    "Farm.Example.com:443",
    "a.lab.example",
    "a.b.lab.example",
  ])("%s can only mean this program", (host) => {
    expect(isAllowedHost(host, rules)).toBe(true);
  });

  it.each([
    "evil.example",
    "evil.example:8400",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "farm.example.com.evil.example",
    "xfarm.example.com",
    "lab.example",
    "xlab.example",
    "other.local",
    "box.evil.example",
    "",
    "evil.example@localhost",
    "localhost/evil.example",
    "localhost, evil.example",
    "localhost evil.example",
    "localhost:port",
    ":8400",
  ])("%j can mean anything", (host) => {
    expect(isAllowedHost(host, rules)).toBe(false);
  });

  it("can be any where the owner says so", () => {
    expect(isAllowedHost("evil.example", { ...rules, hosts: ["*"] })).toBe(true);
  });
});
