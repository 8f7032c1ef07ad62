// How a claim finds its tasks in SQLite: a few index-ordered looks, merged here; nothing is a round trip. Mostly there is one
// look, and nothing to merge: then it reads the tasks themselves.
import { bestFirst, type Ranked } from '../../engine/matching.ts'
import type { Task } from '../../engine/model.ts'
import type { ClaimNeed } from '../../engine/unit.ts'
import { definitionColumns, definitionFromRow, type DefinitionRow } from '../sql/definition-row.ts'
import { lockWaiting } from '../sql/lock-tasks.ts'
import { QUEUED_STATE, queuedFromRow, type QueuedRow } from '../sql/queued-row.ts'
import { type Offer, type Query, query, type Session, type Value } from '../sql/session.ts'

const LANES = query(
  'matching_lanes',
  () => `
    select lane from lanes
    where tenant_id = $1 and not exists (
      select 1 from json_each(capabilities) as needed
      where needed.value not in (select value from json_each($2))
    )`,
)

/** Of a type ($4) or of any. */
const OF_TYPE = { shelf: 'queued s', fits: 's.type = $4' }
const OF_ANY_TYPE = { shelf: 'queued s indexed by queued_ready_of_any_type', fits: "s.type > ''" }

const look = ({ shelf, fits }: typeof OF_TYPE, columns: string, beside = '') => `
    select ${columns}
    from ${shelf} ${beside}
    where s.tenant_id = $1 and s.lane = $2 and s.place = 'ready' and ${fits}
    order by s.neg_priority, s.task_id
    limit $3`

function headsLook(name: string, of: typeof OF_TYPE): Query {
  return query(name, () => look(of, 's.neg_priority, s.task_id, s.type'))
}

function tasksLook(name: string, of: typeof OF_TYPE): Query {
  return query(name, (words) =>
    look(
      of,
      `${definitionColumns(words)}, ${QUEUED_STATE}, ${words.address('s')} as address`,
      words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = s.task_id'),
    ),
  )
}

export const READY_OF_TYPE = headsLook('ready_of_type', OF_TYPE)
export const READY_OF_ANY_TYPE = headsLook('ready_of_any_type', OF_ANY_TYPE)
export const READY_TASKS_OF_TYPE = tasksLook('ready_tasks_of_type', OF_TYPE)
export const READY_TASKS_OF_ANY_TYPE = tasksLook('ready_tasks_of_any_type', OF_ANY_TYPE)

interface Head {
  readonly neg_priority: number
  readonly task_id: string
  readonly type: string
}

export async function selectCandidates(session: Session, tenantId: string, claim: ClaimNeed): Promise<Offer> {
  const { filter, count } = claim
  const lanes = await session.all<{ lane: string }>(LANES, [tenantId, JSON.stringify(filter.capabilities)])
  const looks = lanes.flatMap(({ lane }) => looksOf(claim).map((type) => ({ lane, type })))
  const params = ({ lane, type }: Look): Value[] => [tenantId, lane, count, ...(type === null ? [] : [type])]
  if (looks.length === 1)
    return { tasks: await findTasks(session, looks[0]!, params(looks[0]!)), held: false }
  const heads = await Promise.all(
    looks.map((at) => session.all<Head>(at.type === null ? READY_OF_ANY_TYPE : READY_OF_TYPE, params(at))),
  )
  const best = heads.flat().map(rankedOf).toSorted(bestFirst(filter))
  const taskIds = [...new Set(best.map(({ taskId }) => taskId))].slice(0, count)
  return { tasks: await lockWaiting(session, tenantId, taskIds), held: false }
}

interface Look {
  readonly lane: string
  /** Null: any. */
  readonly type: string | null
}

/**
 * In each lane. Preferred types are looked at by themselves too: in their priority they come before older tasks of other
 * types.
 */
function looksOf({ filter: { acceptTypes, preferredTypes } }: ClaimNeed): readonly Look['type'][] {
  return acceptTypes ?? [...preferredTypes, null]
}

async function findTasks(session: Session, { type }: Look, params: readonly Value[]): Promise<Task[]> {
  const of = type === null ? READY_TASKS_OF_ANY_TYPE : READY_TASKS_OF_TYPE
  const rows = await session.all<QueuedRow & DefinitionRow>(of, params)
  return rows.map((row) => queuedFromRow(row, definitionFromRow(row)))
}

function rankedOf({ neg_priority, task_id, type }: Head): Ranked {
  return { priority: -neg_priority, taskId: task_id, type }
}
