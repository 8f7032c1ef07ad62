// One transaction on one connection. `begin` and `commit` travel with the statements; nothing waits for their
// answers but the caller's own reply.
import type { Pool, PoolClient } from 'pg'
import { StoreFailure } from '../sql/failure.ts'
import { query, type Transaction } from '../sql/session.ts'
import type { WireSession } from './client.ts'
import { toFailure } from './failure.ts'
import { type Scope, setScope } from './scope.ts'
import { type Wire, wireOn } from './stage.ts'

const BEGIN = query('begin', () => 'begin')
const BEGIN_READING = query('begin_reading', () => 'begin read only')
const COMMIT = query('commit', () => 'commit')
const ROLLBACK = query('rollback', () => 'rollback')

export type SessionOn = (wire: Wire) => WireSession

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
  // Statements after a failed `begin` fail too, and tell why it did; nobody waits for this answer.
  const wire = wireOn(client)
  const session = sessionOn(wire)
  const begun = Promise.allSettled([session.ask(readOnly ? BEGIN_READING : BEGIN), setScope(session, scope)])

  function release(broken: boolean): void {
    open = false
    client.release(broken)
  }

  const { all, each } = session
  return {
    isOptimistic: false, // it locks what it needs
    all,
    each,
    enter: (tenantId) => setScope(session, { tenantId }),
    commit: async (written) => {
      // What was never sent has not failed the transaction: the database would commit the rest of it.
      const committed = session.ask(wire.isWhole() ? COMMIT : ROLLBACK)
      const [writing, ending] = await Promise.allSettled([written, committed, begun])
      if (writing.status === 'rejected') throw writing.reason
      if (ending.status === 'rejected') throw new StoreFailure('unavailable', ending.reason)
      // A transaction that had failed answers `commit` with a rollback, and without an error.
      if (ending.value.command !== 'COMMIT') throw new StoreFailure('conflict', new Error('rolled back'))
      release(false)
    },
    rollback: async () => {
      if (!open) return
      // Not even `begin` may have left: sent after the rollback, it would open a transaction that nobody ends.
      if (!wire.stop(new StoreFailure('conflict', new Error('rolled back')))) return release(false)
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

/** Each statement on whichever connection is free. */
export function wireOnAny(pool: Pool): Wire {
  return {
    ask: async (make) => {
      const client = await connect(pool)
      const wire = wireOn(client)
      let broken = true
      try {
        const answer = await wire.ask(make)
        broken = false
        return answer
      } finally {
        client.release(broken && wire.isWhole())
      }
    },
  }
}
