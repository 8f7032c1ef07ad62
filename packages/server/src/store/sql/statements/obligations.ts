// Obligations: an index over the ledger that holds what is open, and nothing else. The evidence is in the receipts. What
// discharged an obligation is named by the end of its task (`ended`), or else by a row of its own in `discharges`.
import type { Positioned } from '../../port.ts'
import { receiptsIn, type SegmentRow } from '../segment.ts'
import { bulk, query, type RowOf, type Session } from '../session.ts'
import { positionOf, receiptsById, segmentsFrom, startOf } from './ledger.ts'

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

const CLOSED = { receipt_id: 'uuid', receipt_type: 'text' } as const

const DISCHARGE_OBLIGATIONS = bulk('discharge_obligations', CLOSED, (x, words) =>
  words.delete({ table: 'obligations', keys: ['receipt_id', 'receipt_type'], input: x }),
)

/** What is not open any more is passed over. */
export function dischargeObligations(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof CLOSED>[],
): Promise<never[]> {
  return session.each(DISCHARGE_OBLIGATIONS, tenantId, rows)
}

const DISCHARGE = { ...CLOSED, discharged_by: 'uuid' } as const

const NAME_DISCHARGES = bulk(
  'name_discharges',
  DISCHARGE,
  (x, words) => `
    insert into discharges (tenant_id, receipt_id, discharged_by)
    select $1, o.receipt_id, x.discharged_by
    from ${x}
    ${words.find('obligations', 'o', 'o.tenant_id = $1 and o.receipt_id = x.receipt_id and o.receipt_type = x.receipt_type')}
    where true
    on conflict do nothing`,
)

/** The first receipt that discharges an obligation is the one that counts. */
export function nameDischarges(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof DISCHARGE>[],
): Promise<never[]> {
  return session.each(NAME_DISCHARGES, tenantId, rows)
}

export interface ObligationRow {
  readonly receipt_id: string
  readonly discharged_by: string | null
}

const OBLIGATIONS_OF_TASKS = bulk(
  'obligations_of_tasks',
  { task_id: 'uuid' },
  (x, words) => `
    select t.assigned_receipt_id as receipt_id,
      case when o.receipt_id is null then coalesce(d.discharged_by, e.terminal_receipt_id) end as discharged_by
    from ${x}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}
    ${words.findOptional('obligations', 'o', 'o.tenant_id = $1 and o.receipt_id = t.assigned_receipt_id')}
    ${words.findOptional('discharges', 'd', 'd.tenant_id = $1 and d.receipt_id = t.assigned_receipt_id')}
    ${words.findOptional('ended', 'e', 'e.tenant_id = $1 and e.task_id = t.task_id')}`,
)

/** Every task begins with one. */
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
  () => `
    select receipt_id, null as discharged_by from obligations where tenant_id = $1 and receipt_id = $2
    union all
    select receipt_id, discharged_by from discharges where tenant_id = $1 and receipt_id = $2`,
)

/** Null: it is open; undefined: it is no obligation. */
export async function dischargedBy(
  session: Session,
  tenantId: string,
  receiptId: string,
): Promise<string | null | undefined> {
  const [row] = await session.all<ObligationRow>(OBLIGATION, [tenantId, receiptId])
  if (row !== undefined) return row.discharged_by
  const [found] = await receiptsById(session, tenantId, [receiptId])
  const { receiptType, taskId } = found?.receipt ?? {}
  if (receiptType !== 'task.assigned' || taskId == null) return undefined
  return (await obligationsOfTasks(session, tenantId, [taskId]))[0]?.discharged_by
}

/** First where what is owed stands in the ledger, then the segments that hold it, each once. `to_id > ''` names the index. */
const OPEN_OBLIGATIONS = query(
  'open_obligations',
  (words) => `
    with owed as (
      select o.position
      from obligations o
      where o.tenant_id = $1 and o.to_kind = $2 and o.to_id = $3 and o.to_id > '' and o.position > $4
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
