// Expensive work a few at a time; whoever would wait behind too many others is told so at once.

export type Line = <T>(work: () => T | Promise<T>, refusal: () => Error) => Promise<T>

export function createLine({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }): Line {
  const waiting: (() => void)[] = []
  let working = 0
  return async (work, refusal) => {
    if (working >= atOnce) {
      if (waiting.length >= waitingMax) throw refusal()
      // Whoever ends hands its place over, so that nobody else can take it in between.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      working += 1
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) working -= 1
      else next()
    }
  }
}
