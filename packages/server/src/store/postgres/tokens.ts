// Token buckets that all instances share. Each draws many tokens at a time and spends them by itself, so this is far from
// the path of a call; the decision is the engine's own, under the lock of the bucket's row.
import { type Draw, draw } from '../../engine/token-bucket.ts'
import { textArray } from './binary-array.ts'
import { bulk, type Driver, query } from '../sql/session.ts'
import { inTransaction } from '../sql/transact.ts'
import type { TokenDraw, TokenStore } from '../tokens.ts'

const ADD_BUCKETS = bulk(
  'add_rate_buckets',
  { bucket: 'text' },
  (x) => `
    insert into rate_buckets (tenant_id, bucket, full_at_us) select $1, x.bucket, 0 from ${x}
    on conflict do nothing`,
)

const LOCK_BUCKETS = bulk(
  'lock_rate_buckets',
  { bucket: 'text' },
  (x, { findLocked }) => `
    select b.bucket, b.full_at_us from ${x}
    ${findLocked('rate_buckets', 'b', 'b.tenant_id = $1 and b.bucket = x.bucket')}`,
)

const SET_BUCKETS = bulk('set_rate_buckets', { bucket: 'text', full_at_us: 'bigint' }, (x, { update }) =>
  update({ table: 'rate_buckets', keys: ['bucket'], input: x }, 'full_at_us = x.full_at_us'),
)

/** Of all tenants: a bucket that is full is like one that was never drawn from. */
const FULL_BUCKETS = query(
  'full_rate_buckets',
  () => 'select tenant_id, bucket from rate_buckets where full_at_us <= $1 limit $2',
)

/** One that is being drawn from is left alone. */
const REMOVE_FULL_BUCKETS = query(
  'remove_full_rate_buckets',
  () => `
    delete from rate_buckets where ctid = any (array(
      select ctid from rate_buckets
      where tenant_id = $1 and bucket = any ($2::text[]) and full_at_us <= $3
      for update skip locked
    ))
    returning bucket`,
)

export function createPostgresTokens(driver: Driver): TokenStore {
  return {
    drawTokens: (tenantId, draws, now) =>
      inTransaction({ driver, tenantId }, async (tx) => {
        // In one order, so that two instances do not wait for each other.
        const names = draws
          .map(({ bucket }) => ({ bucket }))
          .toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1))
        const [, locked] = await Promise.all([
          tx.each(ADD_BUCKETS, tenantId, names),
          tx.each<BucketRow, typeof LOCK_BUCKETS.columns>(LOCK_BUCKETS, tenantId, names),
        ])
        const fullAt = new Map(locked.map((row) => [row.bucket, row.full_at_us / 1_000]))
        const drawn = draws.map((of): Draw & Pick<TokenDraw, 'bucket'> => ({
          bucket: of.bucket,
          ...draw(fullAt.get(of.bucket) ?? 0, of.rate, { now, wanted: of.wanted }),
        }))
        const rows = drawn.map((of) => ({ bucket: of.bucket, full_at_us: Math.round(of.fullAt * 1_000) }))
        await tx.each(SET_BUCKETS, tenantId, rows)
        return drawn
      }),
    pruneTokens: async (now, limit) => {
      const nowUs = now * 1_000
      const full = await driver.scanner.all<{ tenant_id: string; bucket: string }>(FULL_BUCKETS, [
        nowUs,
        limit,
      ])
      let removed = 0
      for (const [tenantId, rows] of Map.groupBy(full, (row) => row.tenant_id)) {
        const names = textArray(rows.map(({ bucket }) => bucket))
        removed += await inTransaction(
          { driver, tenantId },
          async (tx) => (await tx.all(REMOVE_FULL_BUCKETS, [tenantId, names, nowUs])).length,
        )
      }
      return removed
    },
  }
}

interface BucketRow {
  readonly bucket: string
  readonly full_at_us: number
}
