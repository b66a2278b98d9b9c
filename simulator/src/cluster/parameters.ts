/** What the published system does not tell of an engine and its memory: one number each, with its reason. */
export interface EngineParameters {
  /** A prompt of so many tokens costs as much in attention as in weights: 2 x layers x width / (2 x parameters), 30,000 to 110,000 for the models here. */
  attentionTokens: number;
  /** Of each prefill and each decode step, in milliseconds: launches, sampling, and the exchange between devices. */
  prefillConstantMs: number;
  stepConstantMs: number;
  /** Requests that one replica decodes at once; the usual setting of public engines. */
  maxBatch: number;
  /** Pace of each while the same replica also does the other: chunked prefill has priority, and each uses what the other leaves idle. */
  prefillShareBesideDecode: number;
  decodeShareBesidePrefill: number;
  /** Pace of each while another model on the device does the other: both lose a little of caches and queues. */
  paceBesideOther: number;
  /** Pace of an instance that serves while it loads, from half of its load on (its mean over that time). */
  livePace: number;
  /** What is not copying in a load, in milliseconds: from a peer (the connection), from host memory (waking), from disk (starting). */
  peerConstantMs: number;
  hostConstantMs: number;
  diskConstantMs: number;
  /** Bytes of a page, and microseconds to map and unmap one. */
  pageBytes: number;
  mapUs: number;
  unmapUs: number;
  /** Milliseconds a request waits for its first token, or for a place to decode, before its caller leaves. */
  timeOutMs: number;
  /** How often those that waited too long are looked for. */
  sweepMs: number;
  /** A late request's limit is multiplied by the one, at most so often; LST-IMH alone. */
  relaxBy: number;
  relaxTimes: number;
  /** Time constant of what is measured of an instance, in milliseconds. */
  measureMs: number;
}

export const ENGINE_PARAMETERS: EngineParameters = {
  attentionTokens: 60_000,
  prefillConstantMs: 5,
  stepConstantMs: 1.5,
  maxBatch: 256,
  prefillShareBesideDecode: 0.8,
  decodeShareBesidePrefill: 0.4,
  paceBesideOther: 0.85,
  livePace: 0.5,
  peerConstantMs: 350,
  hostConstantMs: 120,
  diskConstantMs: 1_000,
  pageBytes: 2 * 1024 * 1024,
  mapUs: 37,
  unmapUs: 235,
  timeOutMs: 30_000,
  sweepMs: 500,
  relaxBy: 3,
  relaxTimes: 2,
  measureMs: 10_000,
};
