// The statements that callers wait for, each with the rows that it may read: as many as it answers with,
// however much there is beside them.
import type { Session } from '../../src/store/sql/session.ts'
import { listReceipts } from '../../src/store/sql/list-receipts.ts'
import { listTasks } from '../../src/store/sql/list-tasks.ts'
import { findAccount, findAccountByName } from '../../src/store/sql/statements/accounts.ts'
import { findClient } from '../../src/store/sql/statements/clients.ts'
import { findKey, readKey } from '../../src/store/sql/statements/keys.ts'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Task } from '../../src/engine/model.ts'
import { createHoldings } from '../../src/store/sql/holdings.ts'
import { lockTasks } from '../../src/store/sql/lock-tasks.ts'
import { dependentsOf, markDue, settleDependents } from '../../src/store/sql/statements/dependencies.ts'
import { settlements } from '../../src/store/sql/statements/ended.ts'
import { activeByKey, activeByWorker, dueLeases, renewLeases } from '../../src/store/sql/statements/leased.ts'
import { deleteLeased, deleteQueued } from '../../src/store/sql/statements/leave-shelf.ts'
import { markNoLongerNamed, markPages, markTasks } from '../../src/store/sql/statements/ledger-pages.ts'
import { receiptsById, receiptsByKey } from '../../src/store/sql/statements/ledger.ts'
import {
  dischargedBy,
  dischargeObligations,
  nameDischarges,
  obligationsOfTasks,
  openObligations,
} from '../../src/store/sql/statements/obligations.ts'
import {
  consumeArtifact,
  findArtifact,
  findArtifactByUid,
  findGrant,
  removeGrant,
} from '../../src/store/sql/statements/oauth.ts'
import { dueDelayed, nextEligibleAt, updateQueued } from '../../src/store/sql/statements/queued.ts'
import { readType, typeLimits } from '../../src/store/sql/statements/task-types.ts'
import { idempotentTasks } from '../../src/store/sql/statements/tasks.ts'
import { readTask } from '../../src/store/sql/task-view.ts'
import { AGENT, EVERY_RECEIPT, EVERY_TASK, WORKER } from './rig.ts'

export const NONE = '019b76da-0000-7000-8000-000000000001'
const HASH = 'ab'.repeat(32)
export const PAGE = 20

export interface Place {
  readonly tenantId: string
  readonly now: number
  readonly ids: readonly string[]
  /** Leases that there are, as they are. */
  readonly held: readonly Grant[]
}

export type Case = readonly [
  what: string,
  rowsReadMax: number,
  run: (session: Session, place: Place) => Promise<unknown>,
]

export const CASES: Case[] = [
  ['key by its beginning', 1, (on) => findKey(on, 'aga_0000000000')],
  ['type by its name', 1, (on, { tenantId }) => readType(on, tenantId, 'a')],
  ['limits of types', 2, (on, { tenantId }) => typeLimits(on, tenantId, ['a', 'b'])],
  ['key by its id', 1, (on, { tenantId }) => readKey(on, tenantId, NONE)],
  ['account by its id', 1, (on) => findAccount(on, NONE)],
  ['account by its name', 1, (on, { tenantId }) => findAccountByName(on, tenantId, 'ada')],
  ['client by its id', 1, (on) => findClient(on, NONE)],
  ['grant with its account', 1, (on) => findGrant(on, 'none')],
  ['artifact by its key', 1, (on) => findArtifact(on, 'none')],
  ['artifact by its other name', 1, (on) => findArtifactByUid(on, 'none')],
  ['consume', 1, (on, { now }) => consumeArtifact(on, 'none', now)],
  ['leave of a grant', 1, (on) => removeGrant(on, 'none')],
  ['promotion', 2 * PAGE, (on, { tenantId, now }) => dueDelayed(on, tenantId, { now, limit: PAGE })],
  ['next delay', 1, (on, { tenantId }) => nextEligibleAt(on, tenantId)],
  [
    'lock tasks',
    2 * PAGE,
    (on, { tenantId, ids }) =>
      lockTasks(on, tenantId, {
        taskIds: ids,
        isHeld: (id) => ids.indexOf(id) < PAGE / 2,
        trusted: [],
        holdings: createHoldings(),
      }),
  ],
  ['tasks by idempotency key', 0, (on, { tenantId }) => idempotentTasks(on, tenantId, [HASH])],
  ['settled leases', 0, (on, { tenantId }) => settlements(on, tenantId, [NONE])],
  ['active under a key', 5, (on, { tenantId }) => activeByKey(on, tenantId, ['k', 'other'])],
  ['active of a worker', 0, (on, { tenantId }) => activeByWorker(on, tenantId, ['nobody'])],
  ['due leases', PAGE, (on, { now }) => dueLeases(on, { now: now + 1e9, limit: PAGE })],
  ['receipts by id', 0, (on, { tenantId }) => receiptsById(on, tenantId, [NONE])],
  ['receipts by key', 0, (on, { tenantId }) => receiptsByKey(on, tenantId, new Set([HASH]))],
  [
    'discharge',
    0,
    (on, { tenantId }) =>
      dischargeObligations(on, tenantId, [{ receipt_id: NONE, receipt_type: 'task.assigned' }]),
  ],
  [
    'name what discharged',
    0,
    (on, { tenantId }) =>
      nameDischarges(on, tenantId, [
        { receipt_id: NONE, receipt_type: 'task.assigned', discharged_by: NONE },
      ]),
  ],
  ['obligations of tasks', 4, (on, { tenantId, ids }) => obligationsOfTasks(on, tenantId, [ids[0]!])],
  ['what discharged an obligation', 0, (on, { tenantId }) => dischargedBy(on, tenantId, NONE)],
  ...[null, '(0,1)'].flatMap((address): Case[] => {
    const task = { definition: { taskId: NONE }, address } as unknown as Task // nothing else of it is looked at
    const how = address === null ? 'by key' : 'by address'
    return [
      [`leave the queue ${how}`, 1, (on, { tenantId }) => deleteQueued(on, tenantId, [task])],
      [`leave a lease ${how}`, 1, (on, { tenantId }) => deleteLeased(on, tenantId, [task])],
    ]
  }),
  [
    'renew',
    0,
    (on, { tenantId }) =>
      renewLeases(on, tenantId, [{ task_id: NONE, expires_at: 0, check_at: 0, renewals: 1 }]),
  ],
  [
    'change what is queued',
    0,
    (on, { tenantId }) =>
      updateQueued(on, tenantId, [
        {
          task_id: NONE,
          place: 'ready',
          next_eligible_at: 0,
          updated_at: 0,
          attempt: 0,
          expiries: 0,
          fence: 0,
          started_at: null,
          has_dependents: false,
        },
      ]),
  ],
  ['dependents of a task', 2, (on, { tenantId, ids }) => dependentsOf(on, tenantId, [ids[0]!])],
  ['mark as due', 2, (on, { tenantId, ids }) => markDue(on, tenantId, [ids[0]!])],
  ['settle dependents', 0, (on, { tenantId }) => settleDependents(on, tenantId, [NONE])],
  ['read a task', 4, (on, { tenantId, ids }) => readTask(on, tenantId, ids[0]!)],
  [
    'open obligations',
    3 * PAGE,
    (on, { tenantId }) => openObligations(on, tenantId, { ...AGENT, after: 0, limit: PAGE }),
  ],
]

/** Pages, with what each row costs: its definition, its state, its lease, its progress. */
export const LISTS: Case[] = [
  ...(
    [
      {},
      { status: 'queued' },
      { status: 'leased' },
      { status: 'succeeded' },
      { type: 't1' },
      { createdBy: AGENT },
      { tag: 'red' },
      { concerning: AGENT },
      { before: '019b76da-5000-7000-8000-000000000001' },
    ] as const
  ).map(
    (filter): Case => [
      `tasks ${JSON.stringify(filter)}`,
      8 * PAGE,
      (on, { tenantId }) => listTasks(on, { ...EVERY_TASK, ...filter, tenantId, limit: PAGE }),
    ],
  ),
  ...(
    [
      {},
      { after: 500 },
      { after: 6_000 },
      { receiptType: 'task.completed' },
      { to: { kind: null, id: 'ada' } },
      { from: { kind: 'worker', id: 'w1' } },
      { concerning: AGENT },
      { after: 4_000, to: { kind: null, id: 'ada' } },
      { after: 4_000, concerning: AGENT },
    ] as const
  ).map(
    (filter): Case => [
      `receipts ${JSON.stringify(filter)}`,
      3 * PAGE,
      (on, { tenantId }) => listReceipts(on, { ...EVERY_RECEIPT, ...filter, tenantId, limit: PAGE }),
    ],
  ),
  ...([{ taskId: NONE }, { taskId: NONE, concerning: AGENT }] as const).map(
    (filter): Case => [
      `receipts ${JSON.stringify(filter)}`,
      0,
      (on, { tenantId }) => listReceipts(on, { ...EVERY_RECEIPT, ...filter, tenantId, limit: PAGE }),
    ],
  ),
  // Not while there is no ledger.
  [
    'mark pages of a claim that was lost',
    0,
    (on, { tenantId }) => markNoLongerNamed(on, tenantId, [{ taskId: NONE, leaseId: NONE }]),
  ],
  [
    'mark pages of tasks',
    4,
    (on, { tenantId }) => {
      const accepted = { taskId: NONE, receiptId: NONE, receiptType: 'task.accepted' }
      return markTasks(on, tenantId, { receipts: [accepted], named: new Set() })
    },
  ],
  [
    'mark pages of recipients, senders and types',
    4,
    (on, { tenantId }) =>
      markPages(on, tenantId, [{ receiptType: 'task.assigned', from: AGENT, to: WORKER }]),
  ],
]
