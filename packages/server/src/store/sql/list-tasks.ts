// Lists of tasks, newest first. Each filter has an index that starts with it and ends with the task's id, so
// that a page costs the same wherever it is: the relation whose index serves the list comes first, and orders
// it.
import type { TaskQuery } from '../port.ts'
import { allOf, buildFilter } from './filter.ts'
import { listQuery, type Query, type Session, type Value, type Words } from './session.ts'
import { shelves } from './task-row.ts'
import { taskViewColumns, type TaskViewRow } from './task-view.ts'
import { firstUuidAt } from './uuid.ts'

/**
 * How far a task's id may run ahead of its creation time: batches share one clock, and clocks are set back.
 */
const ID_AHEAD_MS = 60_000

type Leader = 'g' | 't' | 'q' | 'l' | 'e'

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
    dead: ['e.dead_letter', wanted.deadLetter === true ? true : null],
    notdead: ['not coalesce(e.dead_letter, false)', wanted.deadLetter === false ? true : null],
    queued: ['q.task_id is not null', wanted.status === 'queued' ? true : null],
    held: ['l.status = ?', shelfOf(wanted.status) === 'l' ? wanted.status : null],
    ended: ['e.status = ?', shelfOf(wanted.status) === 'e' ? wanted.status : null],
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
  const shelf = shelfOf(status)
  if (tag !== null) return 'g'
  if (shelf === 'l') return 'l'
  if (concerning !== null) return 't'
  if (deadLetter === true || (status !== null && !isCommon(status))) return shelf ?? 'e'
  if (type !== null || createdBy !== null) return 't'
  return shelf ?? 't'
}

function shelfOf(status: TaskQuery['status']): 'q' | 'l' | 'e' | null {
  if (status === null) return null
  if (status === 'queued') return 'q'
  return status === 'leased' || status === 'running' ? 'l' : 'e'
}

function isCommon(status: NonNullable<TaskQuery['status']>): boolean {
  return status === 'queued' || status === 'succeeded'
}

const TASKS_OF = (lead: string, { find }: Words) =>
  find('tasks', 't', `t.tenant_id = ${lead}.tenant_id and t.task_id = ${lead}.task_id`)

const RELATIONS: Record<Leader, (words: Words) => string> = {
  g: (words) => `task_tags g ${TASKS_OF('g', words)} ${shelves(words, 'g')}`,
  t: (words) => `tasks t ${shelves(words, 't')}`,
  q: (words) => `queued q ${TASKS_OF('q', words)} ${shelves(words, 'q', 'q')}`,
  l: (words) => `leased l ${TASKS_OF('l', words)} ${shelves(words, 'l', 'l')}`,
  e: (words) => `ended e ${TASKS_OF('e', words)} ${shelves(words, 'e', 'e')}`,
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
