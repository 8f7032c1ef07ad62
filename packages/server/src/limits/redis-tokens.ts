// Token buckets in Redis, where one is configured. Its client is loaded only then; it is none of our own dependencies.
import { ConfigError } from '../config.ts'
import type { Draw } from '../engine/token-bucket.ts'
import type { TokenDraw, TokenStore } from '../store/tokens.ts'

export interface RedisTokens extends TokenStore {
  close(): Promise<void>
}

const PREFIX = 'asyncgate:rate:'
const CONNECT_MS_MAX = 2_000
const RECONNECT_MS_MAX = 5_000

/** engine/token-bucket.ts in Lua: Redis runs it in one piece. Numbers travel as text, or they would lose their fractions. */
const DRAW = `
local now, wanted = tonumber(ARGV[1]), tonumber(ARGV[2])
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local interval = window / limit
local full_at = tonumber(redis.call('get', KEYS[1]) or '0')
local from = math.max(full_at, now)
local tokens = math.max(0, math.floor((window - (from - now)) / interval + 0.001))
local granted = math.min(wanted, tokens)
full_at = from + granted * interval
if full_at > now then
  redis.call('set', KEYS[1], string.format('%.6f', full_at), 'px', math.ceil(full_at - now))
else
  redis.call('del', KEYS[1])
end
return { tostring(granted), string.format('%.6f', full_at) }
`

/** Connects in the background, and again after every outage: until then each draw rejects. */
export async function openRedisTokens(url: string, onError: (error: unknown) => void): Promise<RedisTokens> {
  const { createClient } = await loadClient()
  const client = createClient({
    url,
    // What cannot be asked now is not worth asking later.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS_MAX,
      reconnectStrategy: (tries) => Math.min(RECONNECT_MS_MAX, 100 * 2 ** tries),
    },
  })
  client.on('error', onError)
  const connected = client.connect().catch(onError)

  async function drawOne(tenantId: string, { bucket, rate, wanted }: TokenDraw, now: number): Promise<Draw> {
    const numbers = [now, wanted, rate.limit, rate.windowMs].map(String)
    const reply = await client.eval(DRAW, { keys: [`${PREFIX}${tenantId}:${bucket}`], arguments: numbers })
    const [granted, fullAt] = reply as unknown as [string, string] // what the script returns
    return { granted: Number(granted), fullAt: Number(fullAt) }
  }

  return {
    drawTokens: async (tenantId, draws, now) => {
      await connected
      return Promise.all(draws.map((of) => drawOne(tenantId, of, now)))
    },
    close: async () => {
      client.destroy()
    },
  }
}

async function loadClient() {
  try {
    return await import('@redis/client')
  } catch (cause) {
    const message =
      'limits.redis_url needs the package @redis/client. Install it beside asyncgate: npm install @redis/client'
    throw Object.assign(new ConfigError([{ where: 'limits.redis_url', message }]), { cause })
  }
}
