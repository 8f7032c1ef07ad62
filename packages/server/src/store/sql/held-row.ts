// What was decided by as it was remembered, as rows to compare with those that are there.
import type { Holding } from './holdings.ts'
import type { RowOf } from './session.ts'

/** Whatever may change while a lease stays the same, and decides about anything; the rest of it changes with one of these. */
export const HELD_COLUMNS = {
  task_id: 'uuid',
  lease_id: 'uuid',
  status: 'text',
  has_dependents: 'boolean',
  renewals: 'int',
} as const

/** Whether a row `f` of `leased` is one of the tenant's and as the input row says. */
export const IS_AS_HELD = [
  'tenant_id = $1',
  ...Object.keys(HELD_COLUMNS).map((name) => `${name} = x.${name}`),
]
  .map((condition) => `f.${condition}`)
  .join(' and ')

export function heldToRow({ task: { definition, state }, lease }: Holding): RowOf<typeof HELD_COLUMNS> {
  return {
    task_id: definition.taskId,
    lease_id: lease.leaseId,
    status: state.status,
    has_dependents: state.hasDependents,
    renewals: lease.renewals,
  }
}
