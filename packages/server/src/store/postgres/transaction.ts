// One transaction on one connection. `begin` and `commit` travel with the statements; nothing waits for their
// answers but the caller's own reply.
//
// Statements that are sent in one turn leave in one write. By itself the driver writes each of the fifteen or so of a
// commit to the socket, and each wakes the database.
import type { Client, Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { StoreFailure } from '../sql/failure.ts'
import type { Session, Transaction } from '../sql/session.ts'
import { toFailure } from './failure.ts'
import { type Scope, setScope } from './scope.ts'

/** What can run a statement: a connection, or the pool. */
export interface Wire {
  query(statement: string | QueryConfig): Promise<QueryResult>
}

export type SessionOn = (wire: Wire, onUnsent?: () => void) => Session

export interface Connected {
  readonly pool: Pool
  readonly sessionOn: SessionOn
}

/** A scope without a tenant only reads: the database refuses it anything else. */
export async function beginTransaction(
  { pool, sessionOn }: Connected,
  { scope, readOnly }: { readonly scope: Scope; readonly readOnly: boolean },
): Promise<Transaction> {
  const client = await connect(pool)
  let open = true
  // What was never sent has not failed the transaction: the database would commit the rest of it.
  let whole = true
  // Statements after a failed `begin` fail too, and tell why it did; nobody waits for this answer.
  const wire = inOneWrite(client)
  const session = sessionOn(wire, () => (whole = false))
  const begun = Promise.allSettled([
    wire.query(readOnly ? 'begin read only' : 'begin'),
    setScope(session, scope),
  ])

  function release(broken: boolean): void {
    open = false
    client.release(broken)
  }

  return {
    ...session,
    enter: (tenantId) => setScope(session, { tenantId }),
    commit: async (written) => {
      const committed = wire.query(whole ? 'commit' : 'rollback')
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
  let cause: unknown
  const query = async (statement: string | QueryConfig) => {
    if (!held) {
      held = true
      stream.cork()
      process.nextTick(() => {
        held = false
        stream.uncork()
      })
    }
    try {
      return await client.query(statement)
    } catch (error) {
      // Those after it are only told that the transaction has failed, and may be heard first.
      throw (cause ??= error)
    }
  }
  return { query }
}

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw toFailure(error)
  }
}
