// What a claim takes from the queue is compared with what it found there: it may have been found without a lock (see
// optimistic.ts), and another process may have changed it since.
import type { Task } from '../../engine/model.ts'
import type { ClaimNeed } from '../../engine/unit.ts'
import { type Bulk, bulk, type Offer, type Session } from '../sql/session.ts'

/** Whatever may change while a task waits, and decides about anything; the rest of it changes with one of these. */
const TAKEN_COLUMNS = { task_id: 'uuid', fence: 'bigint', place: 'text', has_dependents: 'boolean' } as const

const IS_AS_FOUND = Object.keys(TAKEN_COLUMNS)
  .map((name) => `${name} = x.${name}`)
  .join(' and ')

export const TAKE_QUEUED: Bulk<typeof TAKEN_COLUMNS> = {
  ...bulk('take_queued', TAKEN_COLUMNS, () => `delete from queued where tenant_id = $1 and ${IS_AS_FOUND}`),
  expects: 'change',
}

export function takeQueued(session: Session, tenantId: string, tasks: readonly Task[]): Promise<unknown> {
  const rows = tasks.map(({ definition: { taskId }, state }) => ({
    task_id: taskId,
    fence: state.fence,
    place: state.place,
    has_dependents: state.hasDependents,
  }))
  return session.each(TAKE_QUEUED, tenantId, rows)
}

/** Without what commits under way take, which is still there to be found. */
export async function selectUntaken(
  taken: ReadonlySet<string>,
  claim: ClaimNeed,
  select: (wider: ClaimNeed) => Promise<Offer>,
): Promise<Offer> {
  if (taken.size === 0) return select(claim)
  const { tasks, held } = await select({ ...claim, count: claim.count + taken.size })
  return { tasks: tasks.filter(({ definition }) => !taken.has(definition.taskId)), held }
}
