import { peerTlsTrouble } from "./tls-words.ts";

/** How far an exchange had come. */
export type ExchangePhase = "connect" | "first_byte" | "body";

export interface ExchangeFailure {
  phase: ExchangePhase;
  /**
   * refused: nothing listens; timeout: our clock; reset: the connection broke; protocol: not HTTP;
   * cancelled: the caller or an operator ended it; unreachable: no route, no such name, TLS;
   * gone: the upstream was found to be away while it was waited for.
   */
  kind: "refused" | "unreachable" | "timeout" | "reset" | "protocol" | "cancelled" | "gone";
  /** It broke before any byte, and had carried an answer before, so that its idle end may have raced this request. */
  reused: boolean;
  /** It broke when bytes of this answer had come, but not yet its whole head. */
  begun?: true;
  /** For the log and the error text: short, without the peer's own bytes. */
  message: string;
}

/**
 * What an undici error means; of what the connection had carried it knows nothing. Codes: undici `lib/core/errors.js`
 * and Node's system errors.
 */
export function failureOf(error: Error & { code?: string }, phase: ExchangePhase): ExchangeFailure {
  const code = error.code ?? "";
  const failure = (kind: ExchangeFailure["kind"], at: ExchangePhase = phase) => ({
    phase: at,
    kind,
    reused: false,
    message: code === "" ? error.name : (peerTlsTrouble(code) ?? code),
  });
  // Before anything that it could break: nothing was sent to whom nobody trusts.
  if (phase === "connect" && peerTlsTrouble(code) !== null) return failure("unreachable");
  if (code === "ECONNREFUSED") return failure("refused", "connect");
  // The system's own time-out of a connection that stood means that its other end is gone.
  if (code === "ETIMEDOUT") return phase === "connect" ? failure("timeout") : failure("reset");
  if (code === "UND_ERR_CONNECT_TIMEOUT") return failure("timeout", "connect");
  if (
    error.name === "HTTPParserError" ||
    code.startsWith("HPE_") ||
    code.startsWith("UND_ERR_HEADERS_OVERFLOW") ||
    code.startsWith("UND_ERR_RES")
  ) {
    return failure("protocol");
  }
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE" || code === "UND_ERR_CLOSED") {
    return failure("reset");
  }
  return failure(phase === "connect" ? "unreachable" : "reset");
}
