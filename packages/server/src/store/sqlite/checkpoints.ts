// When the pages of the log are written back into the file. By itself SQLite does it within a commit, on the thread that serves
// HTTP; here another one does, beside the commits. But only a log that was written back entirely, and that nobody reads any
// more, is begun anew, and one that commits are added to all the time never would be: so what was added meanwhile is written
// back in a turn, before the next commit.
import type { Checkpointer } from './checkpointer.ts'
import type { Turns } from './turns.ts'

/** 16 MiB. */
export const LOG_PAGES_MAX = 4_000

/** A log that is so many times as long has been read each time that it could have begun anew: then it is worth a wait. */
const PATIENT_FROM = 4

export interface Checkpoints {
  /** To be told of each commit, before another transaction begins on the connection that knows the log's length. */
  committed(): void
  close(): Promise<void>
}

export interface CheckpointsParts {
  /** How many pages the log has, whether or not the file has them. */
  readonly logLength: () => number
  readonly pagesMax: number
  readonly checkpointer: Checkpointer
  readonly turns: Turns
  /** There will be no more of them. */
  readonly onTrouble: (error: unknown) => void
}

export function createCheckpoints(parts: CheckpointsParts): Checkpoints {
  const { logLength, pagesMax, checkpointer, turns, onTrouble } = parts
  /** How long the log was when it was written back last, unless it was begun anew since. */
  let triedAt = 0
  let isOver = false
  let underway: Promise<void> | null = null

  async function run(): Promise<void> {
    await checkpointer.checkpoint('passive')
    const done = await turns.take()
    try {
      await checkpointer.checkpoint(logLength() < PATIENT_FROM * pagesMax ? 'passive' : 'restart')
      triedAt = logLength()
    } finally {
      done()
    }
  }

  function giveUp(error: unknown): void {
    isOver = true
    onTrouble(error)
  }

  /** Where somebody goes on reading it, a log is tried again when it has grown as much again. */
  function isDue(): boolean {
    const length = logLength()
    if (length < triedAt) triedAt = 0
    return length - triedAt >= pagesMax
  }

  return {
    committed: () => {
      if (isOver || underway !== null) return
      try {
        if (isDue())
          underway = run()
            .catch(giveUp)
            .finally(() => (underway = null))
      } catch (error) {
        giveUp(error) // and not the commit, which is over
      }
    },
    close: async () => {
      isOver = true
      await underway
      await checkpointer.close()
    },
  }
}
