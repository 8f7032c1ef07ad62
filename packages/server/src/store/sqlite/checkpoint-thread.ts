// The thread that writes the pages of the log back into the file, on a connection of its own, each time that it is asked to,
// and answers with what went wrong, or null.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * `passive` writes back what it can beside whoever reads and writes. `restart` waits for those a moment, so that the next to
 * write begins the log anew.
 */
export type CheckpointKind = 'passive' | 'restart'

export interface CheckpointFile {
  readonly path: string
  /** Which file that was when the others opened it. */
  readonly dev: bigint
  readonly ino: bigint
}

/** Whoever commits waits, too. Most transactions that only read are over by then. */
const RESTART_WAIT_MS = 30

const port = parentPort!
let database: DatabaseSync | null = null

port.on('message', (kind: CheckpointKind) => {
  port.postMessage(troubleWith(kind))
})

function troubleWith(kind: CheckpointKind): unknown {
  try {
    database ??= open(workerData as CheckpointFile) // given by checkpointer.ts alone
    database.prepare(`pragma wal_checkpoint(${kind})`).all()
    return null
  } catch (error) {
    return error
  }
}

function open({ path, dev, ino }: CheckpointFile): DatabaseSync {
  const found = statSync(path, { bigint: true })
  // Their log would be written into whatever has taken its place, and be gone.
  if (found.dev !== dev || found.ino !== ino)
    throw new Error(`${path} is not the file any more that is in use`)
  return new DatabaseSync(path, { timeout: RESTART_WAIT_MS })
}
