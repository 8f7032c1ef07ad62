// Reads outside of a commit: each a transaction of its own, so that what it may see ends with it. Its four statements
// leave in one write and are answered in one, so that it takes no longer to and fro than the one alone.
import { query, type Query, type Session, type Transaction } from '../sql/session.ts'
import type { Scope } from './scope.ts'
import { beginTransaction, type Connected } from './transaction.ts'

/** Statements that read whole tables need the plans that the service's own connections are kept from. */
const ALLOW_SCANS = query(
  'allow_scans',
  () => `
    select set_config(name, 'on', true)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'enable_sort']) as name`,
)

export const createReader = (connected: Connected, scope: Scope): Session => reading(connected, scope, [])

export const createScanner = (connected: Connected): Session =>
  reading(connected, 'every tenant', [ALLOW_SCANS])

function reading(connected: Connected, scope: Scope, first: readonly Query[]): Session {
  async function read<R>(run: (tx: Transaction) => Promise<R>): Promise<R> {
    const tx = await beginTransaction(connected, { scope, readOnly: true })
    try {
      const prepared = first.map((of) => tx.all(of, []))
      const found = Promise.all([run(tx), ...prepared])
      await tx.commit(found)
      return (await found)[0]
    } catch (error) {
      await tx.rollback()
      throw error
    }
  }
  return {
    all: (of, params) => read((tx) => tx.all(of, params)),
    each: async (of, tenantId, rows) => (rows.length === 0 ? [] : read((tx) => tx.each(of, tenantId, rows))),
  }
}
