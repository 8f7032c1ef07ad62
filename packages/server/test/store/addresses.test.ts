// Rows that another transaction has written anew, while this one waited for them, lie elsewhere: what leaves a shelf must leave
// it all the same, or a task would be on two shelves.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { AGENT, claimCommand, complete, createRig, type Rig } from './rig.ts'

let database: TestDatabase
let store: Store
let other: Client

beforeAll(async () => {
  database = await createMigratedDatabase()
  store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  other = new Client({ connectionString: database.adminUrl })
  await other.connect()
})

afterAll(async () => {
  await other.end()
  await store.close()
  await database.drop()
})

async function rowsOf(table: string, { tenantId }: Rig): Promise<number> {
  const { rows } = await other.query<{ count: number }>(
    `select count(*)::int from ${table} where tenant_id = $1`,
    [tenantId],
  )
  return rows[0]!.count
}

/** Changes the rows of a shelf, and commits once somebody waits for one of them. */
async function moveBefore(table: string, { tenantId }: Rig, run: () => Promise<unknown>): Promise<void> {
  await other.query('begin')
  await other.query(`update ${table} set expiries = expiries + 1 where tenant_id = $1`, [tenantId])
  const running = run()
  for (let waiting = 0; waiting === 0; ) {
    const { rows } = await other.query<{ waiting: number }>(
      "select count(*)::int as waiting from pg_locks where not granted and locktype = 'transactionid'",
    )
    waiting = rows[0]!.waiting
  }
  await other.query('commit')
  await running
}

test('a lease that was renewed meanwhile', async () => {
  const rig = createRig(store)
  await rig.create()
  const [grant] = await rig.claim()
  await moveBefore('leased', rig, () => rig.ask(complete(grant!)))
  expect([await rowsOf('leased', rig), await rowsOf('ended', rig)]).toEqual([0, 1])
})

test('a queued task that was changed meanwhile', async () => {
  const rig = createRig(store)
  const { taskId } = await rig.create()
  const actor = { principal: AGENT, sees: 'all' } as const
  await moveBefore('queued', rig, () => rig.ask({ kind: 'cancel', actor, taskId, reason: null }))
  expect([await rowsOf('queued', rig), await rowsOf('ended', rig)]).toEqual([0, 1])
})

test('a delayed task whose time has come in the same transaction', async () => {
  const rig = createRig(store)
  const { taskId } = await rig.create({ delaySeconds: 60 })
  rig.pass(60_000)
  const actor = { principal: AGENT, sees: 'all' } as const
  await rig.run([{ kind: 'cancel', actor, taskId, reason: null }, claimCommand()])
  expect([await rowsOf('queued', rig), await rowsOf('ended', rig)]).toEqual([0, 1])
})
