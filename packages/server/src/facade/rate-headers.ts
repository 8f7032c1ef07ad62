// What every reply says about the limit that its caller is nearest to (LIM-1).
import type { FastifyReply } from 'fastify'
import type { Shown } from '../limits/limiter.ts'

export function setRateHeaders(reply: FastifyReply, shown: Shown): void {
  reply.headers(rateHeaders(shown))
}

/** Where there is no limit no figure would be right, and who reads one as a number must not find a small one. */
export function rateHeaders({ bucket, rate }: Shown): Record<string, string | number> {
  return {
    'x-ratelimit-limit': rate === null ? 'unlimited' : rate.limit,
    'x-ratelimit-remaining': rate === null ? 'unlimited' : rate.remaining,
    'x-ratelimit-reset': rate === null ? 0 : Math.ceil(rate.fullAt / 1_000),
    'x-ratelimit-bucket': bucket,
  }
}
