// Statements that read whole tables need the plans that the service's own connections are kept from.
import type { Pool } from 'pg'
import { query, type Session, type Transaction } from '../sql/session.ts'
import { beginTransaction, type SessionOn } from './transaction.ts'

const ALLOW_SCANS = query(
  'allow_scans',
  () => `
    select set_config(name, 'on', true)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'enable_sort']) as name`,
)

export function createScanner(pool: Pool, sessionOn: SessionOn): Session {
  async function scan<R>(run: (tx: Transaction) => Promise<R>): Promise<R> {
    const tx = await beginTransaction(pool, sessionOn)
    try {
      const [, found] = await Promise.all([tx.all(ALLOW_SCANS, []), run(tx)])
      return found
    } finally {
      await tx.rollback()
    }
  }
  return {
    all: (of, params) => scan((tx) => tx.all(of, params)),
    each: (of, tenantId, rows) => scan((tx) => tx.each(of, tenantId, rows)),
  }
}
