// A second connection that writes, in a thread of its own: this thread, which serves HTTP and decides, goes on meanwhile.
import { type FailureKind, StoreFailure } from '../sql/failure.ts'
import type { Bound } from './connection.ts'
import { type KnownFile, knownFile } from './same-file.ts'
import { createThread } from './thread.ts'

export interface SecondWriter {
  /** Whole transactions, each of them entirely or not at all, in the order in which they were asked for. */
  write(statements: readonly Bound[]): Promise<void>
  /** False once the thread has failed: then everything is for the first. */
  isThere(): boolean
  /** It is not to be used any more. */
  dismiss(): void
  close(): Promise<void>
}

/** What the thread answers. Null: it is committed. */
export type Refusal = null | {
  readonly kind: FailureKind
  readonly error: unknown
  /** Whether another transaction may do better. */
  readonly isOpen: boolean
}

/** What the thread is started with. */
export interface SecondWriterData {
  readonly file: KnownFile
  readonly busyTimeoutMs: number
}

export interface SecondWriterOptions {
  /** Of a file that has just been opened. */
  readonly path: string
  readonly busyTimeoutMs: number
  /** Called once. */
  readonly onTrouble: (error: unknown) => void
}

export function createSecondWriter(options: SecondWriterOptions): SecondWriter {
  const { path, busyTimeoutMs, onTrouble } = options
  const data: SecondWriterData = { file: knownFile(path), busyTimeoutMs }
  const thread = createThread<readonly Bound[], Refusal>({
    module: 'second-writer-thread',
    task: 'writes large commits',
    data,
  })
  let isThere = true

  function giveUp(error: unknown): void {
    if (isThere) onTrouble(error)
    isThere = false
  }

  return {
    write: async (statements) => {
      const refusal = await thread.ask(statements).catch((error: unknown) => {
        giveUp(error)
        throw new StoreFailure('unavailable', error)
      })
      if (refusal === null) return
      if (!refusal.isOpen) giveUp(refusal.error)
      throw new StoreFailure(refusal.kind, refusal.error)
    },
    isThere: () => isThere,
    dismiss: () => (isThere = false),
    close: () => {
      isThere = false
      return thread.close()
    },
  }
}
