/** The kinds of frames that matter here (RFC 6455, 5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  opcode: number;
  /** The last piece of its message. */
  final: boolean;
  payload: Buffer;
}

/** A longer frame than this is taken for nonsense. Bytes. */
const MOST_PAYLOAD = 16 * 1_024 ** 2;

/** Reads frames out of bytes that come split anywhere. Throws on a frame that is too long. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): Frame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    for (let read = readFrame(this.#rest); read !== null; read = readFrame(this.#rest)) {
      frames.push(read.frame);
      this.#rest = this.#rest.subarray(read.length);
    }
    return frames;
  }
}

/** One whole frame; `mask` (four bytes) is for those that a client sends. */
export function writeFrame(opcode: number, payload: Buffer, mask?: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + size);
  head[0] = 0x80 | opcode;
  head[1] = (mask === undefined ? 0 : 0x80) | (size === 0 ? length : size === 2 ? 126 : 127);
  if (size === 2) head.writeUInt16BE(length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return mask === undefined ? Buffer.concat([head, payload]) : Buffer.concat([head, mask, masked(payload, mask)]);
}

function readFrame(bytes: Buffer): { frame: Frame; length: number } | null {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return null;
  const short = second & 0x7f;
  const size = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + size) return null;
  const length = size === 0 ? short : size === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > MOST_PAYLOAD) throw new Error(`a frame of ${length} bytes`);
  const maskBytes = (second & 0x80) === 0 ? 0 : 4;
  const start = 2 + size + maskBytes;
  if (bytes.length < start + length) return null;
  const payload = bytes.subarray(start, start + length);
  const mask = bytes.subarray(start - maskBytes, start);
  const frame = { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload: masked(payload, mask) };
  return { frame, length: start + length };
}

function masked(payload: Buffer, mask: Buffer): Buffer {
  const clear = Buffer.from(payload);
  if (mask.length === 0) return clear;
  for (let i = 0; i < clear.length; i += 1) clear[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
  return clear;
}
