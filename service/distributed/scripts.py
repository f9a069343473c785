"""What Redis does in one step: admit a batch, begin a chunk of it, publish judgements, cancel it, drop it.

The first judgement that is published for a submission stands; whatever comes later is ignored. So a worker that
was given up for dead and comes back changes nothing, and nothing is counted twice.

A batch is a hash: ``total``, ``left`` (without a judgement), ``share`` (bytes held by each submission),
``created``, ``expires`` (nothing of it is begun later) and ``gives_up`` (nothing of it is awaited later) in seconds
by the server's clock, ``keep`` (how long it is kept when finished), ``chunks`` (number of its RQ jobs), ``facts``
(packed, of each submission what a failure of ours has to tell), and ``started``, ``cancelled`` once they are so.
``lost:INDEX`` counts workers lost over a submission. ``progress`` is when something last became of it. A batch without
``total`` is none: who enqueued it came too late.

A Redis that is full refuses a script's first write where that could grow it, and no later one. Scripts that end
something begin with a write that cannot, because what ends is what frees memory; new batches are refused.
"""

from __future__ import annotations

_RELEASE = """
local function release(batch, active, totals, id, count)
  local share = tonumber(redis.call('HGET', batch, 'share')) or 0
  if redis.call('EXISTS', totals) == 1 then
    redis.call('HINCRBY', totals, 'submissions', -count)
    redis.call('HINCRBY', totals, 'bytes', -count * share)
  end
  if redis.call('HINCRBY', batch, 'left', -count) <= 0 then
    redis.call('ZREM', active, id)
  end
end
"""

# KEYS batch, active, totals; ARGV id, total, share, wait_s, run_s, keep_s, facts, max submissions, max bytes,
# index ttl. Answers admitted, there, or full with what is held.
ADMIT = """
if redis.call('HEXISTS', KEYS[1], 'total') == 1 then return {'there', 0, 0} end
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 60)
if redis.call('ZCARD', KEYS[2]) == 0 then redis.call('DEL', KEYS[3]) end
local submissions = tonumber(redis.call('HGET', KEYS[3], 'submissions')) or 0
local bytes = tonumber(redis.call('HGET', KEYS[3], 'bytes')) or 0
if submissions >= tonumber(ARGV[8]) or bytes >= tonumber(ARGV[9]) then
  return {'full', submissions, bytes}
end
local time = redis.call('TIME')
local created = time[1] .. '.' .. string.format('%06d', time[2])
local expires = now + tonumber(ARGV[4])
local gives_up = expires + tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'total', ARGV[2], 'left', ARGV[2], 'share', ARGV[3], 'created', created,
  'expires', expires, 'gives_up', gives_up, 'keep', math.max(1, math.ceil(ARGV[6])), 'chunks', 0,
  'facts', ARGV[7])
redis.call('EXPIREAT', KEYS[1], math.ceil(gives_up + tonumber(ARGV[6]) + 120))
redis.call('ZADD', KEYS[2], gives_up, ARGV[1])
redis.call('HINCRBY', KEYS[3], 'submissions', ARGV[2])
redis.call('HINCRBY', KEYS[3], 'bytes', ARGV[2] * ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[10])
redis.call('EXPIRE', KEYS[3], ARGV[10])
return {'admitted', submissions, bytes}
"""

# KEYS batch. Says that something becomes of it.
TOUCH = """
if redis.call('HEXISTS', KEYS[1], 'total') == 1 then
  redis.call('HSET', KEYS[1], 'progress', redis.call('TIME')[1])
end
"""

# KEYS batch, done. Answers open, cancelled or gone; seconds since creation; seconds left to begin; done indices.
BEGIN = """
if redis.call('HEXISTS', KEYS[1], 'total') == 0 then return {'gone', '0', '0', {}} end
if redis.call('HGET', KEYS[1], 'cancelled') then return {'cancelled', '0', '0', {}} end
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
redis.call('HSETNX', KEYS[1], 'started', tostring(now))
local batch = redis.call('HMGET', KEYS[1], 'created', 'expires')
return {'open', tostring(now - tonumber(batch[1])), tostring(tonumber(batch[2]) - now),
  redis.call('SMEMBERS', KEYS[2])}
"""

# KEYS batch, results, done, active, totals; ARGV id, channel, event, then index and judgement of each.
# Answers how many of them stand, or -1 where nobody wants them any longer. The event is followed by a line with the
# indices of those that stand.
PUBLISH = (
    _RELEASE
    + """
redis.call('ZREM', KEYS[4], '')
if redis.call('HEXISTS', KEYS[1], 'total') == 0 or redis.call('HGET', KEYS[1], 'cancelled') then return -1 end
local accepted = {}
for position = 4, #ARGV, 2 do
  if redis.call('SADD', KEYS[3], ARGV[position]) == 1 then
    redis.call('RPUSH', KEYS[2], ARGV[position + 1])
    accepted[#accepted + 1] = ARGV[position]
  end
end
if #accepted > 0 then
  release(KEYS[1], KEYS[4], KEYS[5], ARGV[1], #accepted)
  redis.call('HSET', KEYS[1], 'progress', redis.call('TIME')[1])
  local ttl = redis.call('TTL', KEYS[1])
  if tonumber(redis.call('HGET', KEYS[1], 'left')) <= 0 then
    ttl = tonumber(redis.call('HGET', KEYS[1], 'keep'))
    redis.call('EXPIRE', KEYS[1], ttl)
  end
  redis.call('EXPIRE', KEYS[2], ttl)
  redis.call('EXPIRE', KEYS[3], ttl)
  redis.call('PUBLISH', ARGV[2], ARGV[3] .. '\\n' .. table.concat(accepted, ' '))
end
return #accepted
"""
)

# KEYS batch, active, totals; ARGV id, channel, event. Answers how many submissions were left.
CANCEL = (
    _RELEASE
    + """
redis.call('ZREM', KEYS[2], '')
local left = tonumber(redis.call('HGET', KEYS[1], 'left')) or 0
if left <= 0 then return 0 end
release(KEYS[1], KEYS[2], KEYS[3], ARGV[1], left)
redis.call('HSET', KEYS[1], 'cancelled', redis.call('TIME')[1])
redis.call('EXPIRE', KEYS[1], redis.call('HGET', KEYS[1], 'keep'))
redis.call('PUBLISH', ARGV[2], ARGV[3])
return left
"""
)

# KEYS batch, results, done, active, totals; ARGV id. Answers how many submissions were left.
DROP = (
    _RELEASE
    + """
redis.call('ZREM', KEYS[4], '')
local left = tonumber(redis.call('HGET', KEYS[1], 'left')) or 0
if left > 0 then release(KEYS[1], KEYS[4], KEYS[5], ARGV[1], left) end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return left
"""
)
