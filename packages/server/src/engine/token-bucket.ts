// A token bucket as one number (GCRA): the moment at which it is full again. It holds `limit` tokens and gets one back each
// `windowMs / limit`. Whoever finds it empty changes nothing.

export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

export interface Draw {
  readonly granted: number
  /** The bucket afterwards. */
  readonly fullAt: number
}

/** Takes as many of the wanted tokens as there are; fewer than none gives some back. */
export function draw(fullAt: number, rate: Rate, { now, wanted }: { now: number; wanted: number }): Draw {
  const granted = Math.min(wanted, tokensIn(fullAt, rate, now))
  return { granted, fullAt: Math.max(fullAt, now) + granted * intervalMs(rate) }
}

export function tokensIn(fullAt: number, rate: Rate, now: number): number {
  const missingMs = Math.max(0, fullAt - now)
  return Math.max(0, Math.floor((rate.windowMs - missingMs) / intervalMs(rate) + ROUNDING))
}

/** Until there are so many; more than the bucket holds never come. */
export function untilTokens(fullAt: number, rate: Rate, { now, wanted }: { now: number; wanted: number }) {
  if (wanted > rate.limit) return Infinity
  return Math.max(0, fullAt - now - rate.windowMs + wanted * intervalMs(rate))
}

export function intervalMs({ limit, windowMs }: Rate): number {
  return windowMs / limit
}

/** A thousandth of a token: what adding up fractions of milliseconds, and keeping them as microseconds, can lose. */
const ROUNDING = 0.001
