// The check of what is open against the receipts: whatever is changed behind the store's back, it names the obligation.
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createMigratedDatabase } from '../database.ts'
import { openBehindSqlite } from './behind-sqlite.ts'
import { AGENT, createRig } from './rig.ts'

interface Opened {
  readonly store: Store
  /** Past the store, and past all policies. */
  change(sql: string): Promise<unknown>
}

const OPEN: Record<string, () => Promise<Opened>> = { sqlite: openSqlite, postgres: openPostgres }

async function openSqlite(): Promise<Opened> {
  const { store, raw } = await openBehindSqlite()
  return { store, change: async (sql) => raw.exec(sql) }
}

async function openPostgres(): Promise<Opened> {
  const database = await createMigratedDatabase()
  const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  const admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  onTestFinished(async () => {
    await admin.end()
    await store.close()
    await database.drop()
  })
  return { store, change: (sql) => admin.query(sql) }
}

/** One that is open, one that its task's end discharged, and one that another receipt did. */
async function threeObligations(store: Store) {
  const rig = createRig(store)
  const { receiptId: open } = await rig.create()
  const ended = await rig.create()
  const actor = { principal: AGENT, sees: 'all' } as const
  await rig.ask({ kind: 'cancel', actor, taskId: ended.taskId, reason: null })
  const of = {
    kind: 'submitReceipt',
    taskId: null,
    scheduleId: 's',
    from: AGENT,
    to: AGENT,
    body: {},
  } as const
  const scheduled = await rig.ask<{ receiptId: string }>({
    ...of,
    receiptType: 'schedule.created',
    parents: [],
  })
  await rig.ask({ ...of, receiptType: 'schedule.deleted', parents: [scheduled.receiptId] })
  return { tenantId: rig.tenantId, open, ended: ended.receiptId, scheduled: scheduled.receiptId }
}

type Obligations = Awaited<ReturnType<typeof threeObligations>>
type Tampering = readonly [string, (of: Obligations) => string, keyof Obligations]

const insertion = (tenantId: string, receiptId: string) =>
  `insert into obligations values ('${tenantId}', '${receiptId}', 'task.assigned', 'agent', 'ada', 1)`
const naming = (tenantId: string, receiptId: string, by: string) =>
  `insert into discharges values ('${tenantId}', '${receiptId}', '${by}')`

const TAMPERINGS: readonly Tampering[] = [
  ['an open one is gone', ({ open }) => `delete from obligations where receipt_id = '${open}'`, 'open'],
  [
    'an open one has moved',
    ({ open }) => `update obligations set position = 7 where receipt_id = '${open}'`,
    'open',
  ],
  ['one is open and discharged', ({ tenantId, open, ended }) => naming(tenantId, open, ended), 'open'],
  ['a discharged one is open', ({ tenantId, ended }) => insertion(tenantId, ended), 'ended'],
  [
    'another receipt is said to have discharged it',
    ({ tenantId, ended, open }) => naming(tenantId, ended, open),
    'ended',
  ],
  ['nothing is said to have discharged it', () => 'delete from discharges', 'scheduled'],
]

describe.each(Object.keys(OPEN))('%s', (kind) => {
  test.each(TAMPERINGS)('%s', async (_what, tamper, found) => {
    const { store, change } = await OPEN[kind]!()
    const obligations = await threeObligations(store)
    expect(await store.findDoubtfulObligations(10)).toEqual([])
    await change(tamper(obligations))
    expect(await store.findDoubtfulObligations(10)).toEqual([obligations[found]])
  })

  test('a row without a receipt', async () => {
    const { store, change } = await OPEN[kind]!()
    const { tenantId, open } = await threeObligations(store)
    const unknown = open.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    await change(insertion(tenantId, unknown))
    expect(await store.findDoubtfulObligations(10)).toEqual([unknown])
  })
})
