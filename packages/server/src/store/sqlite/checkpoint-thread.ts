// The thread that writes the pages of the log back into the file, on a connection of its own, each time that it is asked to,
// and answers with what went wrong, or null.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { type KnownFile, requireSameFile } from './same-file.ts'

/**
 * `passive` writes back what it can beside whoever reads and writes. `restart` waits for those a moment, so that the next to
 * write begins the log anew.
 */
export type CheckpointKind = 'passive' | 'restart'

/** Whoever commits waits, too. Most transactions that only read are over by then. */
const RESTART_WAIT_MS = 30

const file = workerData as KnownFile // given by checkpointer.ts alone
const port = parentPort!
let database: DatabaseSync | null = null

port.on('message', (kind: CheckpointKind) => {
  port.postMessage(troubleWith(kind))
})

function troubleWith(kind: CheckpointKind): unknown {
  try {
    database ??= open()
    database.prepare(`pragma wal_checkpoint(${kind})`).all()
    return null
  } catch (error) {
    return error
  }
}

function open(): DatabaseSync {
  requireSameFile(file)
  return new DatabaseSync(file.path, { timeout: RESTART_WAIT_MS })
}
