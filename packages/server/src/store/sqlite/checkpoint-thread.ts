// The thread that writes the pages of the log back into the file, on a connection of its own, each time that it is asked to.
// Whatever goes wrong ends it, and whoever asked hears why.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

export type ToCheckpointThread = 'checkpoint' | 'close'

export interface CheckpointFile {
  readonly path: string
  /** Which file that was when the others opened it. */
  readonly dev: bigint
  readonly ino: bigint
}

const port = parentPort!
const { path, dev, ino } = workerData as CheckpointFile // given by checkpointer.ts alone
const found = statSync(path, { bigint: true })
// Their log would be written into whatever has taken its place, and be gone.
if (found.dev !== dev || found.ino !== ino) throw new Error(`${path} is not the file any more that is in use`)
const database = new DatabaseSync(path)
const checkpoint = database.prepare('pragma wal_checkpoint(passive)')

port.on('message', (message: ToCheckpointThread) => {
  if (message === 'checkpoint') {
    checkpoint.all()
    port.postMessage('done')
  } else {
    database.close()
    port.close()
  }
})
