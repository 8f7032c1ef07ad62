// One transaction on the writing connection, from its turn to its end.
import type { Transaction } from '../sql/session.ts'
import type { Connection } from './connection.ts'
import type { Turns } from './turns.ts'

export async function beginTransaction(writer: Connection, turns: Turns): Promise<Transaction> {
  const done = await turns.take()
  try {
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
  }
  return {
    all: writer.all,
    each: writer.each,
    enter: async () => {},
    commit: async (written) => {
      await written
      end('commit')
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
