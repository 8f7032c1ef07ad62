// Claims on PostgreSQL do not look again where they found everything taken. What became ready there later is found all the same.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../src/engine/model.ts'
import { READY_OF_ONE_LANE, READY_OF_ONE_TYPE } from '../../src/store/postgres/claims.ts'
import { createPostgresDriver } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store/port.ts'
import type { Driver, Query } from '../../src/store/sql/session.ts'
import { createSqlStore } from '../../src/store/sql/store.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { verifies } from '../requirements.ts'
import { createRig, type Rig } from './rig.ts'

const LOWEST = -2_147_483_648
const HIGHEST = 2_147_483_647
const NIL = '00000000-0000-0000-0000-000000000000'

let database: TestDatabase
let driver: Driver
let store: Store
let admin: Client

beforeAll(async () => {
  database = await createMigratedDatabase()
  driver = createPostgresDriver({ ...database, poolSize: 4, preparedStatements: true })
  store = createSqlStore(driver)
  admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await store.close()
  await database.drop()
})

/** Times in the ids of a rig are long past, which is to come late: makes what is ready look as if it had come in its turn. */
async function putInTurn({ tenantId }: Rig): Promise<void> {
  await admin.query("update queued set out_of_turn = false where tenant_id = $1 and place = 'ready'", [
    tenantId,
  ])
}

async function outOfTurn({ tenantId }: Rig): Promise<boolean[]> {
  const { rows } = await admin.query<{ out_of_turn: boolean }>(
    'select out_of_turn from queued where tenant_id = $1 order by task_id',
    [tenantId],
  )
  return rows.map((row) => row.out_of_turn)
}

/** Three tasks of which two are taken, and claims that begin with the third. */
async function goPastTwo(rig: Rig) {
  for (const summary of ['a', 'b', 'c']) {
    await rig.create({ summary })
    rig.pass(1)
  }
  await putInTurn(rig)
  const [a] = await rig.claim({ max: 1 })
  const [b] = await rig.claim({ max: 1 })
  return { a: a!, b: b! }
}

const release = ({ lease }: { lease: { taskId: string; leaseId: string; worker: Principal } }) =>
  ({
    kind: 'release',
    worker: lease.worker,
    taskId: lease.taskId,
    leaseId: lease.leaseId,
    reason: null,
  }) as const

verifies('LEASE-2', 'what a worker gives back is the next again', async () => {
  const rig = createRig(store)
  const { a, b } = await goPastTwo(rig)
  await rig.ask(release(b))
  await rig.ask(release(a))
  expect(await rig.claimed({ max: 3 })).toEqual(['a', 'b', 'c'])
})

verifies('LEASE-2', 'what is created late comes before what is younger', async () => {
  const rig = createRig(store)
  await goPastTwo(rig)
  const behind = createRig(store, { tenantId: rig.tenantId, seed: 7 })
  await behind.create({ summary: 'late' })
  expect(await rig.claimed({ max: 2 })).toEqual(['late', 'c'])
})

verifies('LEASE-2', 'what is more urgent comes first', async () => {
  const rig = createRig(store)
  await goPastTwo(rig)
  await rig.create({ summary: 'urgent', priority: 5 })
  await putInTurn(rig)
  expect(await rig.claimed({ max: 2 })).toEqual(['urgent', 'c'])
})

test('a delayed task is found when its time has come', async () => {
  const rig = createRig(store)
  await rig.create({ summary: 'delayed', delaySeconds: 60 })
  rig.pass(1)
  await goPastTwo(rig)
  rig.pass(60_000)
  expect(await rig.claimed({ max: 2 })).toEqual(['delayed', 'c'])
})

test('what was claimed on another instance and came back is found', async () => {
  const rig = createRig(store)
  await goPastTwo(rig)
  const other = createSqlStore(createPostgresDriver({ ...database, poolSize: 2, preparedStatements: true }))
  try {
    const [c] = await rig.claim({ max: 1 }, other)
    expect(await rig.claimed({ max: 1 })).toEqual([])
    await rig.ask(release(c!), other)
    expect(await rig.claimed({ max: 1 })).toEqual(['c'])
  } finally {
    await other.close()
  }
})

test.each([
  { what: 'any type', over: {} },
  { what: 'one type', over: { types: ['echo'] } },
])('the lowest priority is found among $what', async ({ over }) => {
  const rig = createRig(store)
  await goPastTwo(rig)
  await rig.create({ summary: 'lowest', priority: -HIGHEST })
  await putInTurn(rig)
  expect(await rig.claimed(over)).toEqual(['c', 'lowest'])
})

test('a claim keeps no more from other instances than it asks for', async () => {
  const rig = createRig(store)
  const { a } = await goPastTwo(rig)
  await rig.ask(release(a))
  const tx = await driver.begin(rig.tenantId)
  const other = createSqlStore(createPostgresDriver({ ...database, poolSize: 2, preparedStatements: true }))
  try {
    const filter = { capabilities: [], acceptTypes: null, preferredTypes: [] }
    const { tasks } = await driver.selectCandidates(tx, rig.tenantId, { filterKey: '', filter, count: 1 })
    expect(tasks.map(({ definition }) => definition.summary)).toEqual(['a'])
    const [grant] = await rig.claim({ max: 1 }, other)
    expect(grant?.task.definition.summary).toBe('c')
  } finally {
    await tx.rollback()
    await other.close()
  }
})

test('where the best are held, the next best are given', async () => {
  const rig = createRig(store)
  const { a, b } = await goPastTwo(rig)
  await rig.ask(release(a))
  await rig.ask(release(b))
  const other = createPostgresDriver({ ...database, poolSize: 2, preparedStatements: true })
  const tx = await other.begin(rig.tenantId)
  try {
    const filter = { capabilities: [], acceptTypes: null, preferredTypes: [] }
    await other.selectCandidates(tx, rig.tenantId, { filterKey: '', filter, count: 2 })
    expect(await rig.claimed({ max: 2 })).toEqual(['c'])
  } finally {
    await tx.rollback()
    await other.close()
  }
})

test('by the clock of the database: what is not late is in its turn, what is not ready at once never', async () => {
  const rig = createRig(store)
  // Ahead, so that it is not late however long this takes.
  rig.pass(Date.now() - rig.now() + 60_000)
  await rig.create()
  await rig.create({ delaySeconds: 60 })
  expect(await outOfTurn(rig)).toEqual([false, true])
  const slow = createRig(store)
  slow.pass(Date.now() - slow.now() - 5_000)
  await slow.create()
  expect(await outOfTurn(slow)).toEqual([true])
})

test.each([
  { what: 'of one type', query: READY_OF_ONE_TYPE, more: ['t'] },
  { what: 'of any type', query: READY_OF_ONE_LANE, more: [] },
])('a look $what keeps to its stretches', async ({ query, more }: { query: Query; more: string[] }) => {
  const rig = createRig(store)
  const ids: string[] = []
  for (const priority of [1, 1, 0, 0]) {
    ids.push((await rig.create({ type: 't', priority })).taskId)
    rig.pass(1)
  }
  await putInTurn(rig)
  const look = async (starts: readonly (readonly [number, string])[], count = 10) => {
    const ends = [...starts.slice(1).map(([priority]) => priority - 1), HIGHEST]
    const lists = [starts.map(([priority]) => priority), starts.map(([, id]) => id), ends]
    const tx = await driver.begin(rig.tenantId)
    try {
      const stretches = lists.map((list) => `{${list.join()}}`)
      const rows = await tx.all<{ task_id: string | null; first_id: string | null }>(query, [
        rig.tenantId,
        '',
        count,
        ...stretches,
        ...more,
      ])
      return { first: rows[0]!.first_id, found: rows.flatMap((row) => row.task_id ?? []) }
    } finally {
      await tx.rollback()
    }
  }
  expect(await look([[LOWEST, NIL]])).toEqual({ first: ids[0], found: ids })
  expect(await look([[LOWEST, NIL]], 3)).toEqual({ first: ids[0], found: ids.slice(0, 3) })
  expect(
    await look([
      [LOWEST, NIL],
      [-1, ids[1]!],
      [0, ids[3]!],
    ]),
  ).toEqual({ first: ids[1], found: [ids[1], ids[3]] })
  expect(await look([[0, 'ffffffff-ffff-ffff-ffff-ffffffffffff']])).toEqual({ first: null, found: [] })
})
