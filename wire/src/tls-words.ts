const UNTRUSTED = "nobody here trusts who signed its certificate";
const NO_TLS = "it does not answer in TLS: is its URL an http:// one?";

/** What is wrong with a peer's certificate, or with how it speaks. No word of it is the peer's. */
const WORDS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for other names than the one in its URL",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

/** Why no encrypted connection came about, in words, by the error's code; null: the code is of something else. */
export function tlsTrouble(code: string): string | null {
  const words = WORDS[code];
  if (words !== undefined) return `TLS: ${words} (${code})`;
  return /^(CERT_|ERR_SSL_|ERR_TLS_|UNABLE_TO_|INVALID_CA)/.test(code) ? `TLS failed (${code})` : null;
}

/** The same of a worker or an engine, with what its owner can do. */
export function peerTlsTrouble(code: string): string | null {
  const trouble = tlsTrouble(code);
  const isSelfSigned = code === "DEPTH_ZERO_SELF_SIGNED_CERT";
  if (!isSelfSigned && WORDS[code] !== UNTRUSTED) return trouble;
  return `${trouble}: set \`ca\` to a file with ${isSelfSigned ? "it" : "that authority"}`;
}
