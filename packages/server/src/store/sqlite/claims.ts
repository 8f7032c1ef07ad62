// How a claim finds its tasks in SQLite: a few index-ordered looks, merged here; nothing is a round trip.
import { bestFirst, type Ranked } from '../../engine/matching.ts'
import type { ClaimNeed } from '../../engine/unit.ts'
import { lockWaiting } from '../sql/lock-tasks.ts'
import { type Offer, query, type Session } from '../sql/session.ts'

const LANES = query(
  'matching_lanes',
  () => `
    select lane from lanes
    where tenant_id = $1 and not exists (
      select 1 from json_each(capabilities) as needed
      where needed.value not in (select value from json_each($2))
    )`,
)

export const READY_OF_TYPE = query(
  'ready_of_type',
  () => `
    select neg_priority, task_id, type from queued
    where tenant_id = $1 and lane = $2 and type = $3 and place = 'ready'
    order by neg_priority, task_id
    limit $4`,
)

export const READY_OF_ANY_TYPE = query(
  'ready_of_any_type',
  () => `
    select neg_priority, task_id, type from queued indexed by queued_ready_of_any_type
    where tenant_id = $1 and lane = $2 and place = 'ready' and type > ''
    order by neg_priority, task_id
    limit $3`,
)

interface Head {
  readonly neg_priority: number
  readonly task_id: string
  readonly type: string
}

export async function selectCandidates(session: Session, tenantId: string, claim: ClaimNeed): Promise<Offer> {
  const { filter, count } = claim
  const lanes = await session.all<{ lane: string }>(LANES, [tenantId, JSON.stringify(filter.capabilities)])
  const looks = lanes.map(({ lane }) => headsOf(session, { tenantId, lane, claim }))
  const heads = (await Promise.all(looks)).flat()
  const best = heads.map(rankedOf).toSorted(bestFirst(filter))
  const taskIds = [...new Set(best.map(({ taskId }) => taskId))].slice(0, count)
  return { tasks: await lockWaiting(session, tenantId, taskIds), held: false }
}

/**
 * Preferred types are looked at by themselves too: in their priority they come before older tasks of other
 * types.
 */
async function headsOf(
  session: Session,
  of: { tenantId: string; lane: string; claim: ClaimNeed },
): Promise<Head[]> {
  const { tenantId, lane, claim } = of
  const { acceptTypes, preferredTypes } = claim.filter
  const types = acceptTypes ?? preferredTypes
  const looks = types.map((type) => session.all<Head>(READY_OF_TYPE, [tenantId, lane, type, claim.count]))
  if (acceptTypes === null) looks.push(session.all<Head>(READY_OF_ANY_TYPE, [tenantId, lane, claim.count]))
  return (await Promise.all(looks)).flat()
}

function rankedOf({ neg_priority, task_id, type }: Head): Ranked {
  return { priority: -neg_priority, taskId: task_id, type }
}
