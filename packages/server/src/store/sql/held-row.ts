// What was decided by as it was remembered, as rows to compare with those that are there.
import type { Holding } from './holdings.ts'
import type { RowOf } from './session.ts'

/** Whatever may change while the lease stays the same, but for what changes together with one of these. */
export const HELD_COLUMNS = {
  task_id: 'uuid',
  lease_id: 'uuid',
  status: 'text',
  updated_at: 'bigint',
  has_dependents: 'boolean',
  renewals: 'int',
  check_at: 'bigint',
} as const

/** Whether a row of `leased` is one of the tenant's and as the input row says. */
export const isAsHeld = (row: string) =>
  ['tenant_id = $1', ...Object.keys(HELD_COLUMNS).map((name) => `${name} = x.${name}`)]
    .map((condition) => `${row}.${condition}`)
    .join(' and ')

export function heldToRow({ task: { definition, state }, lease }: Holding): RowOf<typeof HELD_COLUMNS> {
  return {
    task_id: definition.taskId,
    lease_id: lease.leaseId,
    status: state.status,
    updated_at: state.updatedAt,
    has_dependents: state.hasDependents,
    renewals: lease.renewals,
    check_at: lease.checkAt,
  }
}
