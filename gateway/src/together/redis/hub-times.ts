/** In milliseconds. */
export interface HubTimes {
  /** Who starts waits so long for Redis; what is not there by then comes later. */
  start: number;
  /** Between two heartbeats. */
  beat: number;
  /** Who has not been heard of for so long is gone, and with it its counts and leases. */
  window: number;
  /** After the records were lost nothing is claimed for so long, until all have written theirs again: more than `beat`. */
  settle: number;
  /** What is told is gathered for so long. */
  gather: number;
  /** A claim's answer is waited for so long. Given up too soon, on a busy host, it costs more than it saves: a cap. */
  claim: number;
  /** The answer of anything else. */
  command: number;
  /** What the others had under way is believed for so long while they cannot be heard. */
  believed: number;
  /** The others' records are read so often, in case that something of them was missed. */
  reread: number;
}

export const HUB_TIMES: HubTimes = {
  start: 1_000,
  beat: 1_000,
  window: 3_000,
  settle: 1_500,
  gather: 20,
  claim: 250,
  command: 1_000,
  believed: 30_000,
  reread: 10_000,
};
