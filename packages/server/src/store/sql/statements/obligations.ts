// Obligations: an index over the ledger that holds what is open apart from what is not. The evidence is in
// the receipts.
import type { Positioned } from '../../port.ts'
import { receiptsIn, type SegmentRow } from '../segment.ts'
import { bulk, query, type RowOf, type Session } from '../session.ts'
import { positionOf, segmentsFrom, startOf } from './ledger.ts'

const OPENED = {
  back: 'int',
  receipt_id: 'uuid',
  receipt_type: 'text',
  to_kind: 'text',
  to_id: 'text',
} as const

const INSERT_OBLIGATIONS = bulk(
  'insert_obligations',
  OPENED,
  (x) => `
    insert into obligations (tenant_id, receipt_id, receipt_type, to_kind, to_id, position)
    select $1, x.receipt_id, x.receipt_type, x.to_kind, x.to_id, ${positionOf('x.back')}
    from ${x}`,
)

export function insertObligations(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof OPENED>[],
): Promise<never[]> {
  return session.each(INSERT_OBLIGATIONS, tenantId, rows)
}

const DISCHARGE = { receipt_id: 'uuid', receipt_type: 'text', discharged_by: 'uuid' } as const

const DISCHARGE_OBLIGATIONS = bulk('discharge_obligations', DISCHARGE, (x, words) =>
  words.update(
    {
      table: 'obligations',
      keys: ['receipt_id', 'receipt_type'],
      input: x,
      and: (row) => `${row}.discharged_by is null`,
    },
    'discharged_by = x.discharged_by',
  ),
)

/**
 * The first receipt that discharges an obligation is the one that counts: a row that another has changed is
 * passed over.
 */
export function dischargeObligations(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof DISCHARGE>[],
): Promise<never[]> {
  return session.each(DISCHARGE_OBLIGATIONS, tenantId, rows)
}

const OBLIGATIONS_OF_TASKS = bulk(
  'obligations_of_tasks',
  { task_id: 'uuid' },
  (x, words) => `
    select o.receipt_id, o.discharged_by
    from ${x}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}
    ${words.find('obligations', 'o', 'o.tenant_id = $1 and o.receipt_id = t.assigned_receipt_id')}`,
)

export interface ObligationRow {
  readonly receipt_id: string
  readonly discharged_by: string | null
}

export function obligationsOfTasks(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<ObligationRow[]> {
  return session.each(
    OBLIGATIONS_OF_TASKS,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const OBLIGATION = query(
  'obligation',
  () => 'select receipt_id, discharged_by from obligations where tenant_id = $1 and receipt_id = $2',
)

export async function obligation(
  session: Session,
  tenantId: string,
  receiptId: string,
): Promise<ObligationRow | undefined> {
  const [row] = await session.all<ObligationRow>(OBLIGATION, [tenantId, receiptId])
  return row
}

/** First where what is owed stands in the ledger, then the segments that hold it, each once. */
const OPEN_OBLIGATIONS = query(
  'open_obligations',
  (words) => `
    with owed as (
      select o.position
      from obligations o
      where o.tenant_id = $1 and o.to_kind = $2 and o.to_id = $3 and o.discharged_by is null and o.position > $4
      order by o.position
      limit $5
    )
    select owed.position as first_position, cast(null as text) as receipts from owed
    union all
    ${segmentsFrom(words, `select ${startOf('owed.position')} from owed`)}`,
)

export async function openObligations(
  session: Session,
  tenantId: string,
  of: { kind: string; id: string; after: number; limit: number },
): Promise<Positioned[]> {
  const rows = await session.all<{ first_position: number; receipts: string | null }>(OPEN_OBLIGATIONS, [
    tenantId,
    of.kind,
    of.id,
    of.after,
    of.limit,
  ])
  const owed = new Set<number>()
  const segments: SegmentRow[] = []
  for (const { first_position, receipts } of rows) {
    if (receipts === null) owed.add(first_position)
    else segments.push({ first_position, receipts })
  }
  return [...receiptsIn(tenantId, segments)].filter(({ position }) => owed.has(position))
}
