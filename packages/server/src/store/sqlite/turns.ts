// Turns: who comes first goes first, one at a time. Transactions of one connection must never interleave.

export interface Turns {
  /** Resolves when it is the caller's turn; the function that it gives ends it. */
  take(): Promise<() => void>
}

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve()
  return {
    take: async () => {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await before
      return resolve
    },
  }
}
