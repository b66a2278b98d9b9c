import type { Connection } from "./connection.ts";

/** A lease's number that is so many milliseconds ahead of Redis' own clock was written by something else. */
const FENCE_AHEAD_MS = 86_400_000;

/**
 * Milliseconds by the clock of Redis: those of the hosts may differ. It may be set back, or be another server's after a
 * failover: what seems to be of the future is taken for what is now. What is no number, since something else wrote it,
 * counts as nothing.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;

/**
 * Says that a member lives, writes its record where it is to be written as a whole, and asks for leases. What is of another
 * kind than gateways write is not theirs, and is begun anew, as if it had been lost: nothing else may have keys of that
 * beginning.
 * KEYS: members, own record, epoch, then holder and fence of each lease.
 * ARGV: id, generation, window, settling time, '1' to write the record, channel, message, then the record's fields.
 * Returns { '1' or '0' where the record is lost, milliseconds until all have written theirs, living members, fences, keys
 * that were begun anew }.
 */
const BEAT = `${NOW}
local id, window, anew = ARGV[1], tonumber(ARGV[3]), {}
local function isOdd(key, kind)
  local found = redis.call('TYPE', key).ok
  if found == kind or found == 'none' then return false end
  anew[#anew + 1] = key
  return true
end
if ARGV[5] ~= '1' and redis.pcall('HGET', KEYS[2], 'g') ~= ARGV[2] then return { '0' } end
-- First, so that it fails where memory is full: a script that has written, as by DEL, may go on.
local epoch = not isOdd(KEYS[3], 'string') and tonumber(redis.call('GET', KEYS[3]))
-- Where members are begun anew, nobody's records are found until all have said again that they live.
local oddMembers = isOdd(KEYS[1], 'zset')
if oddMembers or not (epoch and epoch <= now) then epoch = now end
redis.call('SET', KEYS[3], string.format('%.3f', epoch), 'PX', window)
if oddMembers then redis.call('DEL', KEYS[1]) end
if ARGV[5] == '1' then
  isOdd(KEYS[2], 'hash')
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[2], 'g', ARGV[2])
  for i = 8, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
end
redis.call('PEXPIRE', KEYS[2], window)
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.3f', now), '+inf')) do
  redis.call('ZADD', KEYS[1], now, ahead)
end
redis.call('ZADD', KEYS[1], now, id)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
redis.call('PEXPIRE', KEYS[1], window)
local settling = math.max(0, math.ceil(tonumber(ARGV[4]) - (now - epoch)))
if ARGV[7] ~= '' then redis.call('PUBLISH', ARGV[6], ARGV[7]) end
local fences = {}
for i = 4, #KEYS, 2 do
  if isOdd(KEYS[i], 'hash') then redis.call('DEL', KEYS[i]) end
  local holder = redis.call('HGET', KEYS[i], 'holder')
  local fence = holder == id and tonumber(redis.call('HGET', KEYS[i], 'fence')) or 0
  if fence == 0 and (holder == id or not holder) and settling == 0 then
    local last = not isOdd(KEYS[i + 1], 'string') and tonumber(redis.call('GET', KEYS[i + 1])) or 0
    -- A clock that was wrong once is not to count for ever, and a number too large to be exact would grow no more.
    if not (last <= now + ${FENCE_AHEAD_MS}) then last = 0 end
    fence = math.max(last + 1, math.floor(now))
    redis.call('HSET', KEYS[i], 'holder', id, 'fence', string.format('%.0f', fence))
    redis.call('SET', KEYS[i + 1], string.format('%.0f', fence))
  end
  if fence > 0 then redis.call('PEXPIRE', KEYS[i], window) end
  fences[#fences + 1] = fence
end
return { '1', settling, redis.call('ZRANGE', KEYS[1], 0, -1), fences, anew }
`;

/**
 * Passes on what changed. KEYS: own record. ARGV: generation, channel, message, number of this step, how many sums
 * follow, for each its field and what is added, then for each pair its field and how many there are.
 * Returns 0 where the record is lost; the message has gone all the same.
 */
const STEP = `
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
if redis.pcall('HGET', KEYS[1], 'g') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 's', ARGV[4])
local sums = 5 + 2 * tonumber(ARGV[5])
for i = 6, #ARGV, 2 do
  local field, value = ARGV[i], tonumber(ARGV[i + 1])
  if i < sums then
    value = redis.call('HINCRBY', KEYS[1], field, value)
  elseif value > 0 then
    redis.call('HSET', KEYS[1], field, value)
  end
  if value <= 0 then redis.call('HDEL', KEYS[1], field) end
end
return 1
`;

/**
 * Takes what a request needs, in one step. The decision, as the code numbers it:
 *  1. own record lost, or the others' not written again yet: nothing is known, nothing is taken;
 *  2. the key has its requests under way: limited, nothing is taken;
 *  3. the key has spent its minute (the rule of request-rate.ts): limited, nothing is taken;
 *  4. the key's place is taken and its minute spent, whether there is a place at a worker or not;
 *  5. of the places below their caps the first, or the one with the least load, is taken; none: full.
 * KEYS: members, own record, epoch, rate of the key. The other records have the same hash tag.
 * ARGV: generation, window, settling time, what precedes a member's id, 'first' or 'least-loaded',
 * the key's name ('': none), its requests at once and in a minute, then worker, cap and capacity of each place.
 * Returns { word, which place or why, what remains (-1: no rate), milliseconds until all or the next of it is there }.
 */
const CLAIM = `${NOW}
if redis.pcall('HGET', KEYS[2], 'g') ~= ARGV[1] then return { 'lost' } end -- 1
local epoch = tonumber(redis.pcall('GET', KEYS[3]))
local members = redis.pcall('ZRANGEBYSCORE', KEYS[1], now - ARGV[2], '+inf')
if not epoch or members.err then return { 'lost' } end
if now - epoch < tonumber(ARGV[3]) then return { 'settling' } end
local caller, most, perMinute = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local fields, sums = { 'k:' .. caller }, { 0 }
for i = 9, #ARGV, 3 do
  fields[#fields + 1] = 'w:' .. ARGV[i]
  sums[#sums + 1] = 0
end
for _, member in ipairs(members) do
  local counts = redis.pcall('HMGET', ARGV[4] .. member, unpack(fields))
  for i = 1, #sums do sums[i] = sums[i] + math.max(0, tonumber(counts[i]) or 0) end
end
local remaining, reset = -1, 0
if caller ~= '' then
  if most > 0 and sums[1] >= most then return { 'limited', 'concurrent' } end -- 2
  if perMinute > 0 then -- 3
    local each = 60000 / perMinute
    local from = tonumber(redis.pcall('GET', KEYS[4])) or 0
    from = math.min(math.max(now, from), now + 60000)
    if math.floor((60000 - (from - now)) / each + 1e-6) < 1 then
      return { 'limited', 'rate', 0, math.ceil(from - now + each - 60000) }
    end
    from = math.min(from + each, now + 60000)
    reset = math.ceil(from - now)
    remaining = math.floor((60000 - (from - now)) / each + 1e-6)
    redis.call('SET', KEYS[4], string.format('%.3f', from), 'PX', reset)
  end
  redis.call('HINCRBY', KEYS[2], fields[1], 1) -- 4
end
local found, least = 0, nil
for i = 2, #sums do -- 5
  local at = 9 + (i - 2) * 3
  local cap, load = tonumber(ARGV[at + 1]), sums[i] / ARGV[at + 2]
  if (cap == 0 or sums[i] < cap) and (found == 0 or load < least) then
    found, least = i, load
    if ARGV[5] == 'first' then break end
  end
end
if found > 0 then redis.call('HINCRBY', KEYS[2], fields[found], 1) end
if found > 0 or #sums == 1 then return { 'taken', found - 2, remaining, reset } end
return { 'full', 0, remaining, reset }
`;

/** Gives a lease up. KEYS: its holder. ARGV: id, channel, message. */
const RELEASE = `
if redis.pcall('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`;

/** Leaves. KEYS: members, own record, then holders of leases. ARGV: id, channel, message. */
const LEAVE = `
redis.pcall('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
for i = 3, #KEYS do
  if redis.pcall('HGET', KEYS[i], 'holder') == ARGV[1] then redis.call('DEL', KEYS[i]) end
end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`;

const SCRIPTS = { beat: BEAT, step: STEP, claim: CLAIM, release: RELEASE, leave: LEAVE };
type Script = keyof typeof SCRIPTS;
type Defined = Record<`farmgate-${Script}`, (...args: (string | number)[]) => Promise<unknown>>;

/** Runs a script; it is sent along as text to a server that does not have it. */
export type RunScript = (
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

export function scriptsOf(connection: Connection): RunScript {
  for (const [name, lua] of Object.entries(SCRIPTS)) connection.defineCommand(`farmgate-${name}`, { lua });
  const defined = connection as unknown as Defined;
  return (script, keys, args) => defined[`farmgate-${script}`](keys.length, ...keys, ...args);
}
