// One transaction on one connection. `begin` and `commit` travel with the statements; nothing waits for their
// answers but the caller's own reply.
//
// Statements that are sent in one turn leave in one write. By itself the driver writes each of the fifteen or so of a
// commit to the socket, and each wakes the database.
import type { Client, Pool, PoolClient } from 'pg'
import { StoreFailure } from '../sql/failure.ts'
import type { Session, Transaction } from '../sql/session.ts'
import { toFailure } from './failure.ts'

/** What a transaction sends its statements over. */
export type Wire = Pick<PoolClient, 'query'>

export async function beginTransaction(pool: Pool, sessionOn: (wire: Wire) => Session): Promise<Transaction> {
  const client = await connect(pool)
  let open = true
  // Statements after a failed `begin` fail too, and tell why it did; nobody waits for this answer.
  const wire = inOneWrite(client)
  const begun = wire.query('begin').catch(() => {})

  function release(broken: boolean): void {
    open = false
    client.release(broken)
  }

  return {
    ...sessionOn(wire),
    commit: async (written) => {
      const committed = wire.query('commit')
      const [writing, ending] = await Promise.allSettled([written, committed, begun])
      if (writing.status === 'rejected') throw writing.reason
      if (ending.status === 'rejected') throw new StoreFailure('unavailable', ending.reason)
      // A transaction that had failed answers `commit` with a rollback, and without an error.
      if (ending.value.command !== 'COMMIT') throw new StoreFailure('conflict', new Error('rolled back'))
      release(false)
    },
    rollback: async () => {
      if (!open) return
      const ended = await client.query('rollback').then(
        () => true,
        () => false,
      )
      release(!ended)
    },
  }
}

function inOneWrite(client: PoolClient): Wire {
  // What the driver hands out is its Client, whose socket the type of a pool's client leaves out.
  const { stream } = (client as unknown as Client).connection
  let held = false
  const query = (...args: Parameters<PoolClient['query']>) => {
    if (!held) {
      held = true
      stream.cork()
      process.nextTick(() => {
        held = false
        stream.uncork()
      })
    }
    return client.query(...args)
  }
  return { query: query as Wire['query'] } // the same arguments, the same answer
}

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw toFailure(error)
  }
}
