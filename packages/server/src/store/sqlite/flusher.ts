// The log on its way to the disk. With synchronous=FULL, SQLite flushes it within each commit, and this thread stands still
// meanwhile. Here a commit only writes to it (synchronous=NORMAL), and the flush goes on beside whatever comes next; but nobody
// is answered, neither about what they wrote nor about what they read, before the log is on the disk up to there. One flush
// carries all that was committed before it began.
import { type FileHandle, open } from 'node:fs/promises'
import { StoreFailure } from '../sql/failure.ts'

export interface Flusher {
  /** Resolves when all that has been committed, by whomever, is on the disk. */
  flushed(): Promise<void>
  /** Throws once a flush has failed. */
  requireWhole(): void
}

export interface FlusherParts {
  /** Another number after each commit of any connection, also of another process. */
  readonly version: () => number
  readonly flush: () => Promise<void>
}

export function createFlusher({ version, flush }: FlusherParts): Flusher {
  let onDisk = Number.NaN
  let underway: Promise<void> | null = null
  let next: Promise<void> | null = null
  let broken: StoreFailure | null = null

  async function run(): Promise<void> {
    next = null
    const carried = version()
    try {
      await flush()
      onDisk = carried
    } catch (error) {
      // What the disk has of it is not to be known any more: nothing may be built on it until the file was opened anew.
      broken = new StoreFailure('unavailable', error)
      throw broken
    } finally {
      underway = null
    }
  }

  /** One that begins from now on: what is under way may have begun too early. */
  function later(): Promise<void> {
    const start = () => (underway = run())
    return underway === null ? start() : (next ??= underway.then(start))
  }

  function requireWhole(): void {
    if (broken !== null) throw broken
  }

  return {
    requireWhole,
    flushed: async () => {
      requireWhole()
      if (version() !== onDisk) await later()
    },
  }
}

/** The file may be there only once something was written. */
export function createLogFile(path: string): { flush(): Promise<void>; close(): Promise<void> } {
  let file: FileHandle | null = null
  return {
    flush: async () => {
      file ??= await open(path, 'r+')
      await file.datasync()
    },
    close: async () => file?.close(),
  }
}
