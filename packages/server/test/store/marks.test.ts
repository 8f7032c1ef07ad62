// Pages that are marked for a task by two commits at once: by one that ends its lease, and by one that adds a receipt about it.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { AGENT, createRig } from './rig.ts'

let database: TestDatabase
let stores: [Store, Store]
let other: Client

beforeAll(async () => {
  database = await createMigratedDatabase()
  other = new Client({ connectionString: database.adminUrl })
  await other.connect()
  const open = () => createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  stores = [await open(), await open()]
})

afterAll(async () => {
  await other.end()
  for (const store of stores) await store.close()
  await database.drop()
})

async function countWaiting(): Promise<number> {
  // Others may wait in databases of their own.
  const { rows } = await other.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_locks join pg_stat_activity using (pid)
     where not granted and datname = current_database()`,
  )
  return rows[0]!.waiting
}

async function untilWaiting(count: number): Promise<void> {
  while ((await countWaiting()) < count);
}

test('they do not wait for each other', async () => {
  const [one, two] = stores
  const rig = createRig(one)
  const { taskId } = await rig.create()
  await rig.claim()
  const note = { receiptType: 'x.note', parents: [], body: { schema_version: '1' }, scheduleId: null }
  // The ledger is held for a moment, so that the first to wait for it is the one who submits.
  await other.query('begin')
  await other.query("select pg_advisory_xact_lock(hashtextextended($1 || ' ledger', 0))", [rig.tenantId])
  const noting = rig.ask({ kind: 'submitReceipt', from: AGENT, to: AGENT, taskId, ...note }, two)
  await untilWaiting(1)
  const actor = { principal: AGENT, sees: 'all' } as const
  const canceling = rig.ask({ kind: 'cancel', actor, taskId, reason: null }, one)
  await untilWaiting(2)
  await other.query('commit')
  let isDone = false
  const done = Promise.all([noting, canceling]).finally(() => (isDone = true))
  // PostgreSQL would break a deadlock after a second, and all would go well.
  while (!isDone) expect(await countWaiting()).toBeLessThan(2)
  await done
  expect((await rig.receipts({ taskId })).toSorted()).toEqual(
    ['task.accepted', 'task.assigned', 'task.canceled', 'task.result_ready', 'x.note'].toSorted(),
  )
})
