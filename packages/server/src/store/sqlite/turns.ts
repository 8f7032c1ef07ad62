// Turns: who comes first goes first, one at a time. Transactions of one connection must never interleave.
//
// What a second connection is given to write goes on behind the end of its turn: whoever has the next turn may go on deciding
// meanwhile, if that is for the second connection as well. Whoever is to write on the first waits until the other is done.

export interface Turns {
  /** Resolves when it is the caller's turn and nobody else writes; the function that it gives ends it. */
  take(): Promise<() => void>
  /** Resolves when it is the caller's turn; the function that it gives ends it, and says what goes on beside the next ones. */
  takeBeside(): Promise<(writing: Promise<unknown>) => void>
}

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve()
  const beside = new Set<Promise<unknown>>()

  async function next(): Promise<() => void> {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    return resolve
  }

  return {
    take: async () => {
      const end = await next()
      if (beside.size > 0) await Promise.allSettled(beside) // there will be no more of them in this turn
      return end
    },
    takeBeside: async () => {
      const end = await next()
      return (writing) => {
        beside.add(writing)
        void Promise.allSettled([writing]).then(() => beside.delete(writing))
        end()
      }
    },
  }
}
