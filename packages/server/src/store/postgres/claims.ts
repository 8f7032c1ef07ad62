// How a claim finds its tasks in PostgreSQL: index-ordered looks, one for each lane and accepted type, each
// of which locks what it takes and passes over what another instance has locked. So instances take different
// tasks, without waiting.
import type { ClaimNeed } from '../../engine/unit.ts'
import { type Query, query, type Session } from '../sql/session.ts'
import { stateColumns, taskColumns, type TaskRow } from '../sql/task-row.ts'

export const READY_OF_TYPES = looking('ready_of_types', {
  looks: `select l.lane, w.type, row_number() over () as look
      from lanes l cross join unnest($4::text[]) as w(type)
      where l.tenant_id = $1 and l.capabilities <@ $2::text[]`,
  fits: 'r.tenant_id = $1 and r.lane = k.lane and r.type = k.type',
  order: 'h.neg_priority, h.type <> all ($5::text[]), h.task_id',
})

export const READY_OF_ANY_TYPE = looking('ready_of_any_type', {
  looks: `select l.lane, row_number() over () as look
      from lanes l
      where l.tenant_id = $1 and l.capabilities <@ $2::text[]`,
  // As the index says it, so that a look for types cannot end up there, whatever the planner believes.
  fits: "r.tenant_id = $1 and r.lane || '' = k.lane",
  order: 'h.neg_priority, h.task_id',
})

/**
 * With several looks, a pass without locks finds how deep each must go for the best `$3` of all together:
 * otherwise each would lock that many, and hide them from other instances until the commit. A single look
 * goes that deep at once.
 */
function looking(name: string, of: { looks: string; fits: string; order: string }): Query {
  return query(
    name,
    (words) => `
    with looks as materialized (
      ${of.looks}
    ),
    depths as materialized (
      select best.look, count(*) as depth
      from (
        select k.look
        from looks k
        cross join lateral (
          select r.neg_priority, r.type, r.task_id from ready r
          where ${of.fits}
          order by r.neg_priority, r.task_id
          limit $3
        ) as h
        where (select count(*) from looks) > 1
        order by ${of.order}
        limit $3
      ) as best
      group by best.look
      union all
      select look, $3 from looks where (select count(*) from looks) = 1
    )
    select ${taskColumns(words)}
    from depths d
    join looks k on k.look = d.look
    cross join lateral (
      select s.task_id, ${stateColumns('s')}
      from ready r
      ${words.findFree('task_states', 's', QUEUED)}
      where ${of.fits}
      order by r.neg_priority, r.task_id
      limit d.depth
    ) as s
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = s.task_id')}`,
  )
}

/** Once it is locked: whoever else has claimed, moved or ended the task meanwhile has said so in its row. */
const QUEUED = "s.tenant_id = $1 and s.task_id = r.task_id and s.status = 'queued' and s.place = 'ready'"

/**
 * Preferred types are looked at by themselves too: in their priority they come before older tasks of other
 * types.
 */
export async function selectCandidates(
  session: Session,
  tenantId: string,
  claim: ClaimNeed,
): Promise<TaskRow[]> {
  const { capabilities, acceptTypes, preferredTypes } = claim.filter
  const types = acceptTypes ?? preferredTypes
  const found = await Promise.all([
    types.length === 0
      ? []
      : session.all<TaskRow>(READY_OF_TYPES, [
          tenantId,
          textArray(capabilities),
          claim.count,
          textArray(types),
          textArray(preferredTypes),
        ]),
    acceptTypes !== null
      ? []
      : session.all<TaskRow>(READY_OF_ANY_TYPE, [tenantId, textArray(capabilities), claim.count]),
  ])
  return found.flat()
}

/** An array in PostgreSQL's own notation, so that a parameter is always text. */
function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/(["\\])/g, '\\$1')}"`).join(',')}}`
}
