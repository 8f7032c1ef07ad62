// When the pages of the log are written back into the file. By itself SQLite does it within a commit, on the thread that serves
// HTTP; here another one does, beside the commits. But only a log that was written back entirely is begun anew, and one that
// commits are added to all the time never would be: so what was added meanwhile is written back in a turn, before the next commit.
import type { Checkpointer } from './checkpointer.ts'
import type { Turns } from './turns.ts'

/** 16 MiB. */
export const LOG_PAGES_MAX = 4_000

export interface Checkpoints {
  /** To be told of each commit, before another transaction begins. */
  committed(): void
  close(): Promise<void>
}

export interface CheckpointsParts {
  /** How many pages of the log the file does not have yet. */
  readonly pagesInLog: () => number
  readonly pagesMax: number
  readonly checkpointer: Checkpointer
  readonly turns: Turns
  /** There will be no more of them. */
  readonly onTrouble: (error: unknown) => void
}

export function createCheckpoints(parts: CheckpointsParts): Checkpoints {
  const { pagesInLog, pagesMax, checkpointer, turns, onTrouble } = parts
  let dueAt = pagesMax
  let isOver = false
  let underway: Promise<void> | null = null

  async function run(): Promise<void> {
    try {
      await checkpointer.checkpoint()
      const done = await turns.take()
      try {
        await checkpointer.checkpoint()
        // What another process still reads stays in the log; until it has grown as much again, there is no use in trying.
        dueAt = pagesInLog() + pagesMax
      } finally {
        done()
      }
    } catch (error) {
      giveUp(error)
    } finally {
      underway = null
    }
  }

  function giveUp(error: unknown): void {
    isOver = true
    onTrouble(error)
  }

  return {
    committed: () => {
      if (isOver || underway !== null) return
      try {
        if (pagesInLog() >= dueAt) underway = run()
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
