import { describe, expect, it } from "vitest";
import { isAllowedOrigin } from "../src/allowed-origin.ts";

describe("the pages that are trusted", () => {
  it("are those of this machine when none are listed", () => {
    for (const origin of ["http://localhost:3000", "https://localhost", "http://127.0.0.1:8080", "http://[::1]:1"]) {
      expect(isAllowedOrigin(origin, [])).toBe(true);
    }
    for (const origin of [
      "http://evil.example",
      "null",
      "file://",
      "http://localhost.evil.example",
      "app://localhost",
    ]) {
      expect(isAllowedOrigin(origin, [])).toBe(false);
    }
  });

  it("are exactly those listed otherwise", () => {
    expect(isAllowedOrigin("https://chat.example", ["https://chat.example"])).toBe(true);
    expect(isAllowedOrigin("http://localhost", ["https://chat.example"])).toBe(false);
    expect(isAllowedOrigin("http://any.example", ["*"])).toBe(true);
  });
});
