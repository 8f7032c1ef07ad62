// Tasks that have ended, and the last words of workers on their leases, between rows and values.
import type {
  Lease,
  PrincipalKind,
  Settlement,
  Task,
  TaskDefinition,
  TerminalStatus,
} from '../../engine/model.ts'
import { lastWordFromRow, lastWordToRow, resultFromRow, resultToRow } from './outcome-row.ts'
import { names, type RowOf } from './session.ts'
import { STATE_COLUMNS, stateFromRow, type StateRow, stateToRow } from './state-row.ts'

const END_COLUMNS = {
  status: 'text',
  completed_at: 'bigint',
  dead_letter: 'boolean',
  terminal_receipt_id: 'uuid',
  result: 'json',
} as const

const LAST_WORD = { lease_id: 'uuid', worker_kind: 'text', worker_id: 'text', settlement: 'json' } as const

export const ENDED_COLUMNS = { task_id: 'uuid', ...END_COLUMNS, ...STATE_COLUMNS, ...LAST_WORD } as const
export const SETTLEMENT_COLUMNS = { task_id: 'uuid', ...LAST_WORD } as const

export const ENDED_STATE = names(ENDED_COLUMNS, 's')

export interface SettlementRow {
  readonly task_id: string
  readonly lease_id: string
  readonly worker_kind: PrincipalKind
  readonly worker_id: string
  readonly settlement: string
}

type LastWord =
  | SettlementRow
  | ({ readonly task_id: string } & { readonly [K in keyof Omit<SettlementRow, 'task_id'>]: null })

export type EndedRow = StateRow &
  LastWord & {
    readonly task_id: string
    readonly status: TerminalStatus
    readonly completed_at: number
    readonly dead_letter: boolean | number
    readonly terminal_receipt_id: string
    readonly result: string
  }

/** `lease`: the one that ended the task, if a worker did. */
export function endedToRow(
  { definition, state }: Task,
  lease: Lease | undefined,
): RowOf<typeof ENDED_COLUMNS> {
  return {
    task_id: definition.taskId,
    status: state.status,
    ...stateToRow(state),
    completed_at: state.completedAt,
    dead_letter: state.deadLetter,
    terminal_receipt_id: state.terminalReceiptId,
    result: state.result && resultToRow(state.result, definition.taskId),
    lease_id: lease?.leaseId ?? null,
    worker_kind: lease?.worker.kind ?? null,
    worker_id: lease?.worker.id ?? null,
    settlement: lease?.settlement ? lastWordToRow(lease.settlement, state) : null,
  }
}

export function settlementToRow(lease: Lease): RowOf<typeof SETTLEMENT_COLUMNS> {
  return {
    task_id: lease.taskId,
    lease_id: lease.leaseId,
    worker_kind: lease.worker.kind,
    worker_id: lease.worker.id,
    settlement: lease.settlement,
  }
}

export function endedFromRow(row: EndedRow, definition: TaskDefinition): Task {
  return {
    definition,
    state: {
      status: row.status,
      place: 'none',
      ...stateFromRow(row),
      completedAt: row.completed_at,
      deadLetter: Boolean(row.dead_letter),
      terminalReceiptId: row.terminal_receipt_id,
      result: resultFromRow(row),
    },
  }
}

export function settledFromRow(row: SettlementRow): Lease {
  return settled(row, JSON.parse(row.settlement) as Settlement) // written from a Settlement
}

/** The lease that ended the task. */
export function lastLeaseFromRow(row: EndedRow & SettlementRow): Lease {
  const facts = { status: row.status, terminalReceiptId: row.terminal_receipt_id }
  return settled(row, lastWordFromRow(row.settlement, facts))
}

/** Of a lease that has ended only its last word is asked for; the times that it had are not kept. */
function settled(row: Omit<SettlementRow, 'settlement'>, settlement: Settlement): Lease {
  return {
    leaseId: row.lease_id,
    taskId: row.task_id,
    worker: { kind: row.worker_kind, id: row.worker_id },
    settlement,
    ...OVER,
  }
}

const OVER = {
  fence: 0,
  grantedAt: 0,
  ttlMs: 0,
  expiresAt: 0,
  timeoutAt: null,
  checkAt: 0,
  renewals: 0,
  concurrencyKey: null,
  endedAt: 0,
  end: null,
} as const
