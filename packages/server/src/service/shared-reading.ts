// Figures that cost a look at whole tables, such as those of /health, which anybody may ask for. Who asks while they are
// being read shares the answer; where reading them takes long, they are kept, so that asking often cannot keep the server
// from its work.
import type { Clock } from '../clock.ts'

/** Quicker than this, they are read each time. 1,000,000 tasks took SQLite 1.3 s, in which nothing else was answered. */
const CHEAP_MS = 100
/** How many times as long as it took to read them they are kept: at most a tenth of the time goes into reading. */
const KEPT_FOR = 10

export function shareReading<T>(read: () => Promise<T>, clock: Pick<Clock, 'now'>): () => Promise<T> {
  let shared: Promise<T> | null = null
  let keptUntil = 0
  return () => {
    if (shared !== null && clock.now() < keptUntil) return shared
    const startedAt = clock.now()
    keptUntil = Infinity
    const reading = read()
    shared = reading
    void reading.then(
      () => {
        const now = clock.now()
        keptUntil = now - startedAt < CHEAP_MS ? now : now + (now - startedAt) * KEPT_FOR
      },
      () => {
        keptUntil = 0 // whoever asked was told; the next one asks anew
      },
    )
    return reading
  }
}
