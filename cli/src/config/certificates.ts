import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { ConfigError, type ConfigProblem, formatPath, isoTime, whyUnreadable } from "@farmgate/shared";
import type { TlsPair } from "@farmgate/wire";
import type { OpenedConfig } from "./open-config.ts";

type Place = readonly PropertyKey[];

/** Reads the certificates and keys that a configuration names, and gathers what is wrong with them. */
export class Certificates {
  readonly problems: ConfigProblem[] = [];
  /** What its owner should know, but can be used. */
  readonly warnings: ConfigProblem[] = [];
  /** Absolute paths of all that was looked at. */
  readonly files = new Set<string>();
  readonly #opened: OpenedConfig;
  readonly #wallMs: number;

  /** `wallMs`: now, in milliseconds since the Unix epoch. */
  constructor(opened: OpenedConfig, wallMs: number) {
    this.#opened = opened;
    this.#wallMs = wallMs;
  }

  /** What a listener shows; null: nothing, or nothing that can be used. */
  async pair(files: { cert: string; key: string } | null, at: Place): Promise<TlsPair | null> {
    if (files === null) return null;
    const [cert, key] = await Promise.all([
      this.#read(files.cert, [...at, "cert"]),
      this.#read(files.key, [...at, "key"]),
    ]);
    if (cert === null || key === null) return null;
    const [first] = this.#certificates(files.cert, cert, [...at, "cert"]);
    const trouble = first === undefined ? null : keyTrouble(first, key, files);
    if (trouble !== null) this.#report(this.problems, [...at, "key"], trouble);
    if (first === undefined || trouble !== null) return null;
    try {
      createSecureContext({ cert, key });
      return { cert, key };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      this.#report(this.problems, [...at, "cert"], `${files.cert} cannot be used with its key (${code})`);
      return null;
    }
  }

  /** Certificates of authorities that are trusted; null: none are named, or none can be used. */
  async authorities(file: string | null, at: Place): Promise<string | null> {
    const text = file === null ? null : await this.#read(file, at);
    if (file === null || text === null) return null;
    return this.#certificates(file, text, at).length === 0 ? null : text;
  }

  /** Throws a ConfigError where there is any problem. */
  orThrow(): void {
    if (this.problems.length > 0) throw new ConfigError(this.#opened.shown, this.problems);
  }

  async #read(file: string, at: Place): Promise<string | null> {
    const path = resolve(this.#opened.directory, file);
    this.files.add(path);
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      this.#report(this.problems, at, `${file} cannot be read: ${whyUnreadable(error)}`);
      return null;
    }
  }

  /** All that a PEM file holds. */
  #certificates(file: string, text: string, at: Place): X509Certificate[] {
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    const read = blocks.flatMap((block) => certificateOf(block) ?? []);
    if (read.length === 0 || read.length < blocks.length) {
      const what = read.length === 0 ? "no certificate" : "a broken certificate";
      this.#report(this.problems, at, `${file} holds ${what}: it must be a PEM file`);
      return [];
    }
    for (const certificate of read) this.#warnOfTime(file, certificate, at);
    return read;
  }

  #warnOfTime(file: string, { validFrom, validTo }: X509Certificate, at: Place): void {
    const [from, to] = [timeOf(validFrom), timeOf(validTo)];
    if (to < this.#wallMs) this.#report(this.warnings, at, `${file} has expired on ${isoTime(to).slice(0, 10)}`);
    if (from > this.#wallMs) this.#report(this.warnings, at, `${file} is not valid before ${isoTime(from)}`);
  }

  #report(to: ConfigProblem[], at: Place, message: string): void {
    to.push({ path: formatPath(at), line: this.#opened.document.lineOf(at), message });
  }
}

/** The names that a certificate is for, as `DNS:farm.lan, IP Address:192.0.2.1`; empty: none. */
export function namesIn(cert: string): string {
  return new X509Certificate(cert).subjectAltName ?? "";
}

function certificateOf(block: string): X509Certificate | null {
  try {
    return new X509Certificate(block);
  } catch {
    return null;
  }
}

/** What is wrong with a certificate's key; nothing of what it holds is told. */
function keyTrouble(certificate: X509Certificate, key: string, files: { cert: string; key: string }): string | null {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key)) ? null : `${files.key} is not the key of ${files.cert}`;
  } catch (error) {
    const isLocked = (error as NodeJS.ErrnoException).code === "ERR_MISSING_PASSPHRASE" || /ENCRYPTED/.test(key);
    if (isLocked) return `${files.key} is protected by a passphrase, which nobody could type: it must be a plain one`;
    return `${files.key} holds no private key: it must be a PEM file`;
  }
}

/** Milliseconds since the Unix epoch of `Jan  1 00:00:00 2021 GMT`. */
function timeOf(text: string): number {
  // It reads what a certificate says, and no clock.
  // oxlint-disable-next-line no-restricted-globals
  return Date.parse(text);
}
