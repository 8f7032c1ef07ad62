// Lists of tasks, newest first. Each filter has an index that starts with it and ends with the task's id, so
// that a page costs the same wherever it is: the relation whose index serves the list comes first, and orders
// it.
import type { TaskQuery } from '../port.ts'
import { allOf, buildFilter } from './filter.ts'
import { listQuery, type Query, type Session, type Value, type Words } from './session.ts'
import { activeLease, taskViewColumns, type TaskViewRow } from './task-view.ts'
import { firstUuidAt } from './uuid.ts'

/**
 * How far a task's id may run ahead of its creation time: batches share one clock, and clocks are set back.
 */
const ID_AHEAD_MS = 60_000

type Leader = 'g' | 's' | 't'

const queries = new Map<string, Query>()

export function listTasks(session: Session, wanted: TaskQuery): Promise<TaskViewRow[]> {
  const { shape, conditions, params } = filterOf(wanted)
  const concerned = wanted.concerning === null ? [] : [wanted.concerning.kind, wanted.concerning.id]
  const values: Value[] = [...params, ...concerned, wanted.limit]
  const name = `list_tasks_${leaderOf(wanted)}_${shape}${wanted.concerning === null ? '' : '_concerning'}`
  let found = queries.get(name)
  if (found === undefined) {
    found = compose(name, { wanted, conditions, count: values.length })
    queries.set(name, found)
  }
  return session.all(found, values)
}

function filterOf(wanted: TaskQuery) {
  const lead = leaderOf(wanted)
  return buildFilter([wanted.tenantId], {
    tag: ['g.tag = ?', wanted.tag],
    // Literally, so that the planner sees that the index over dead letters will do.
    dead: ['s.dead_letter', wanted.deadLetter === true ? true : null],
    notdead: ['not s.dead_letter', wanted.deadLetter === false ? true : null],
    status: ['s.status = ?', wanted.status],
    type: ['t.type = ?', wanted.type],
    owner: ['t.created_by_id = ?', wanted.createdBy?.id],
    ownerkind: ['t.created_by_kind = ?', wanted.createdBy?.kind],
    from: ['t.created_at >= ?', wanted.createdFrom],
    fromid: [`${lead}.task_id >= ?`, wanted.createdFrom === null ? null : firstUuidAt(wanted.createdFrom)],
    until: ['t.created_at < ?', wanted.createdBefore],
    untilid: [
      `${lead}.task_id < ?`,
      wanted.createdBefore === null ? null : firstUuidAt(wanted.createdBefore + ID_AHEAD_MS),
    ],
    before: [`${lead}.task_id < ?`, wanted.before],
  })
}

/** Tags are the narrowest; then states that few tasks are in at one time; then the definition. */
function leaderOf({ tag, deadLetter, status, type, createdBy, concerning }: TaskQuery): Leader {
  if (tag !== null) return 'g'
  if (status === 'leased' || status === 'running') return 's'
  if (concerning !== null) return 't'
  if (deadLetter === true || (status !== null && !isCommon(status))) return 's'
  if (type !== null || createdBy !== null) return 't'
  return status === null ? 't' : 's'
}

function isCommon(status: NonNullable<TaskQuery['status']>): boolean {
  return status === 'queued' || status === 'succeeded'
}

const RELATIONS: Record<Leader, (words: Words) => string> = {
  g: ({ find }) => `task_tags g
      ${find('task_states', 's', 's.tenant_id = g.tenant_id and s.task_id = g.task_id')}
      ${find('tasks', 't', 't.tenant_id = g.tenant_id and t.task_id = g.task_id')}`,
  s: ({ find }) =>
    `task_states s ${find('tasks', 't', 't.tenant_id = s.tenant_id and t.task_id = s.task_id')}`,
  t: ({ find }) =>
    `tasks t ${find('task_states', 's', 's.tenant_id = t.tenant_id and s.task_id = t.task_id')}`,
}

function compose(
  name: string,
  of: { wanted: TaskQuery; conditions: readonly string[]; count: number },
): Query {
  const lead = leaderOf(of.wanted)
  const limit = `$${of.count}`
  return listQuery(name, (words) => {
    const page = (extra: string) => `
      select ${taskViewColumns(words)}
      from ${RELATIONS[lead](words)}
      ${activeLease(words)}
      where ${lead}.tenant_id = $1 ${allOf(of.conditions)} ${extra}
      order by ${lead}.task_id desc
      limit ${limit}`
    if (of.wanted.concerning === null) return page('')
    const [kind, id] = [`$${of.count - 2}`, `$${of.count - 1}`]
    const owned = `t.created_by_id = ${id} and t.created_by_kind = ${kind}`
    const owed = `t.recipient_id = ${id} and t.recipient_kind = ${kind} and ${OWED_TO_ANOTHER}`
    return `
      select * from (
        select * from (${page(`and ${owned}`)}) as owned
        union all
        select * from (${page(`and ${owed}`)}) as owed
      ) as page
      order by task_id desc
      limit ${limit}`
  })
}

/** As the partial index says it: tasks whose recipient is not their owner. */
const OWED_TO_ANOTHER = '(t.recipient_id <> t.created_by_id or t.recipient_kind <> t.created_by_kind)'
