// A clock that stands still until the test moves it; timers fire, in order, as it passes them.
import type { Clock } from '../clock.ts'

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

export interface VirtualClock extends Clock {
  /** Moves time forward; due timers run at their own moment, and what they start is given time to settle. */
  advance(ms: number): Promise<void>
}

/** Enough turns of the event loop for promises and I/O callbacks of an in-process store to settle. */
const TURNS = 5

/** `settle`: waits for what a timer started; a test whose store does real I/O passes one that knows of it. */
export function createVirtualClock(startMs = Date.UTC(2026, 0, 1), settle = turns): VirtualClock {
  let now = startMs
  let order = 0
  const timers = new Set<Timer>()

  function nextDue(until: number): Timer | undefined {
    return [...timers]
      .filter((timer) => timer.at <= until)
      .toSorted((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  return {
    now: () => now,
    after: (delayMs, run) => {
      const timer = { at: now + Math.max(0, delayMs), order: order++, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance: async (ms) => {
      const until = now + ms
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        timers.delete(due)
        now = Math.max(now, due.at)
        due.run()
        await settle()
      }
      now = until
      await settle()
    },
  }
}

export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}
