// The best parked tasks of each key, lane and type: from group to group along the index, never over a whole
// group.
import { bulk, type KeyRoom, type ParkedHead, type Session } from '../sql/session.ts'
import { UNDER_KEY } from '../sql/statements/leased.ts'

const group = (condition: string) => `
  select p.lane, p.type, p.concurrency_limit from queued p
  where p.tenant_id = $1 and p.place = 'parked' and ${condition}
  order by p.lane, p.type, p.concurrency_limit
  limit 1`

export const PARKED_HEADS = bulk(
  'parked_heads',
  { concurrency_key: 'text', ending: 'int', type_limit: 'int' },
  (x) => `
    with recursive groups as (
      select x.concurrency_key, x.ending - (
        select count(*) from leased l
        where l.tenant_id = $1 and l.concurrency_key = x.concurrency_key and ${UNDER_KEY}
      ) as room, x.type_limit, g.lane, g.type, g.concurrency_limit
      from ${x}
      cross join lateral (${group('p.concurrency_key = x.concurrency_key')}) as g
      union all
      select g.concurrency_key, g.room, g.type_limit, n.lane, n.type, n.concurrency_limit
      from groups g
      cross join lateral (${group(`p.concurrency_key = g.concurrency_key
        and (p.lane, p.type, p.concurrency_limit) > (g.lane, g.type, g.concurrency_limit)`)}) as n
    )
    select g.concurrency_key, p.task_id
    from groups g
    cross join lateral (
      select p.task_id from queued p
      where p.tenant_id = $1 and p.place = 'parked' and p.concurrency_key = g.concurrency_key and p.lane = g.lane and p.type = g.type
        and p.concurrency_limit = g.concurrency_limit
      order by p.neg_priority, p.task_id
      limit greatest(0, coalesce(g.type_limit, g.concurrency_limit) + g.room)
    ) as p`,
)

export function parkedHeads(
  session: Session,
  tenantId: string,
  rooms: readonly KeyRoom[],
): Promise<ParkedHead[]> {
  return session.each(
    PARKED_HEADS,
    tenantId,
    rooms.map(({ concurrencyKey, ending, limit }) => ({
      concurrency_key: concurrencyKey,
      ending,
      type_limit: limit,
    })),
  )
}
