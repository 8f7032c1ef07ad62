// One transaction on the writing connection, from its turn to its end.
import type { Transaction } from '../sql/session.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Connection } from './connection.ts'
import type { Flusher } from './flusher.ts'
import type { Turns } from './turns.ts'

export interface Writing {
  readonly writer: Connection
  readonly turns: Turns
  readonly flusher: Flusher
  readonly checkpoints: Pick<Checkpoints, 'committed'>
}

export async function beginTransaction(writing: Writing): Promise<Transaction> {
  const { writer, turns, flusher, checkpoints } = writing
  const done = await turns.take()
  try {
    flusher.requireWhole()
    writer.exec('begin immediate')
  } catch (error) {
    done()
    throw error
  }
  let open = true
  const end = (statement: 'commit' | 'rollback') => {
    writer.exec(statement)
    open = false
    done()
    if (statement === 'commit') checkpoints.committed()
  }
  return {
    isOptimistic: false,
    all: writer.all,
    each: writer.each,
    enter: async () => {},
    commit: async (written) => {
      await written
      end('commit')
      // Also where nothing was changed: what was found may not be on the disk yet.
      await flusher.flushed()
    },
    rollback: async () => {
      if (!open) return
      try {
        end('rollback')
      } catch {
        // SQLite has rolled back by itself: there is nothing left to undo.
        open = false
        done()
      }
    },
  }
}
