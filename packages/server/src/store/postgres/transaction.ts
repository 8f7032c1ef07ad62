// One transaction on one connection. `begin` and `commit` travel with the statements; nothing waits for their
// answers but the caller's own reply.
import type { Pool, PoolClient } from 'pg'
import { StoreFailure } from '../sql/failure.ts'
import type { Session, Transaction } from '../sql/session.ts'
import { toFailure } from './failure.ts'

export async function beginTransaction(
  pool: Pool,
  sessionOn: (client: PoolClient) => Session,
): Promise<Transaction> {
  const client = await connect(pool)
  let open = true
  // Statements after a failed `begin` fail too, and tell why it did; nobody waits for this answer.
  const begun = client.query('begin').catch(() => {})

  function release(broken: boolean): void {
    open = false
    client.release(broken)
  }

  return {
    ...sessionOn(client),
    commit: async (written) => {
      const committed = client.query('commit')
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

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw toFailure(error)
  }
}
