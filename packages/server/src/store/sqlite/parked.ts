// The best parked tasks of each key, lane and type: from group to group along the index, never over a whole
// group.
import type { KeyRoom, ParkedHead, Session } from '../sql/session.ts'
import { query } from '../sql/session.ts'
import { UNDER_KEY } from '../sql/statements/leased.ts'

export const NEXT_GROUP = query(
  'next_parked_group',
  () => `
    select lane, type, concurrency_limit from queued
    where tenant_id = $1 and place = 'parked' and concurrency_key = $2 and (lane, type, concurrency_limit) > ($3, $4, $5)
    order by lane, type, concurrency_limit
    limit 1`,
)

export const HEADS = query(
  'parked_heads',
  () => `
    select concurrency_key, task_id from queued
    where tenant_id = $1 and place = 'parked' and concurrency_key = $2 and lane = $3 and type = $4 and concurrency_limit = $5
    order by neg_priority, task_id
    limit max(0, coalesce($7, $5) + $6 - (
      select count(*) from leased l
      where l.tenant_id = $1 and l.concurrency_key = $2 and ${UNDER_KEY}
    ))`,
)

interface Group {
  readonly lane: string
  readonly type: string
  readonly concurrency_limit: number
}

export async function parkedHeads(
  session: Session,
  tenantId: string,
  rooms: readonly KeyRoom[],
): Promise<ParkedHead[]> {
  const found: ParkedHead[] = []
  for (const room of rooms) found.push(...(await headsOfKey(session, tenantId, room)))
  return found
}

async function headsOfKey(session: Session, tenantId: string, room: KeyRoom): Promise<ParkedHead[]> {
  const { concurrencyKey, ending, limit } = room
  const found: ParkedHead[] = []
  let group: Group | undefined = { lane: '', type: '', concurrency_limit: 0 }
  for (;;) {
    const after: Group = group
    ;[group] = await session.all<Group>(NEXT_GROUP, [
      tenantId,
      concurrencyKey,
      after.lane,
      after.type,
      after.concurrency_limit,
    ])
    if (group === undefined) return found
    const { lane, type, concurrency_limit } = group
    const heads = await session.all<ParkedHead>(HEADS, [
      tenantId,
      concurrencyKey,
      lane,
      type,
      concurrency_limit,
      ending,
      limit,
    ])
    found.push(...heads)
  }
}
