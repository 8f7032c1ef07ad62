// The thread of the second connection that writes: whole transactions, one after the other.
import { parentPort, workerData } from 'node:worker_threads'
import { StoreFailure } from '../sql/failure.ts'
import { type Bound, type Connection, openConnection } from './connection.ts'
import { PRAGMAS } from './pragmas.ts'
import { requireSameFile } from './same-file.ts'
import type { Refusal, SecondWriterData } from './second-writer.ts'

const { file, busyTimeoutMs } = workerData as SecondWriterData // given by second-writer.ts alone
const port = parentPort!
let writer: Connection | null = null

port.on('message', (statements: readonly Bound[]) => {
  port.postMessage(refusalOf(statements))
})

function refusalOf(statements: readonly Bound[]): Refusal {
  try {
    writer ??= open()
  } catch (error) {
    // Nothing was written: the first connection may do it.
    return { kind: 'conflict', error, isOpen: false }
  }
  try {
    write(writer, statements)
    return null
  } catch (error) {
    const { kind, cause } = error instanceof StoreFailure ? error : new StoreFailure('defect', error)
    return { kind, error: cause, isOpen: true }
  }
}

function open(): Connection {
  requireSameFile(file)
  const opened = openConnection(file.path, { readOnly: false, busyTimeoutMs })
  // The log is written back by a thread of its own: see checkpoints.ts.
  opened.exec(`${PRAGMAS} pragma wal_autocheckpoint = 0;`)
  return opened
}

function write({ exec, run }: Connection, statements: readonly Bound[]): void {
  exec('begin immediate')
  try {
    for (const statement of statements) run(statement)
    exec('commit')
  } catch (error) {
    try {
      exec('rollback')
    } catch {
      // SQLite has rolled back by itself.
    }
    throw error
  }
}
