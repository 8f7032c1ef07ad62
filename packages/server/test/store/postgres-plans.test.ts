// Plans on PostgreSQL: no statement that callers wait for reads more rows than its budget, also when its plan
// was made while every table was empty and nobody had analysed anything, or right after all that they had was done and gone.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClaimNeed } from '../../src/engine/unit.ts'
import type { Store } from '../../src/store/port.ts'
import {
  BEST_OF_ONE_TYPE,
  createClaims,
  READY_OF_ONE_LANE,
  READY_OF_ONE_TYPE,
} from '../../src/store/postgres/claims.ts'
import { expectHeld, takeHeld } from '../../src/store/postgres/held.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { holdCounts } from '../../src/store/postgres/locks.ts'
import { parkedHeads } from '../../src/store/postgres/parked.ts'
import { dueDependents } from '../../src/store/sql/statements/dependencies.ts'
import { insertSegments } from '../../src/store/sql/statements/ledger.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { type Case, CASES, LISTS, NONE, PAGE, type Place } from './plan-cases.ts'
import { type Explainer, openExplainer } from './postgres-plans.ts'
import { claimCommand, complete, createRig, EVERY_TASK, newTask, type Rig } from './rig.ts'

const COUNT = 10

function claim(over: Parameters<typeof claimCommand>[0] = {}): ClaimNeed {
  return { filterKey: '', filter: claimCommand(over).filter, count: COUNT }
}

const SEGMENTS = Array.from({ length: COUNT }, (_, at) => ({
  through: at + 1,
  count: 1,
  first_id: NONE,
  last_id: NONE,
  receipts: '[]',
  active_tasks: 0,
  receipt_bytes: 0,
  active_tasks_max: null,
}))

/** Everything before one priority, and from it on. */
const TWO_STRETCHES = ['{-2147483648,-1}', `{${NONE},${NONE}}`, '{-2,2147483647}']

/**
 * With several looks, the heads are read once without a lock and once with it; each task costs its row and
 * its state.
 */
const OWN_CASES: Case[] = [
  ['claim, any type', 4 * COUNT + 10, (on, { tenantId }) => createClaims()(on, tenantId, claim())],
  [
    'claim, one type',
    3 * COUNT + 10,
    (on, { tenantId }) => createClaims()(on, tenantId, claim({ types: ['t1'] })),
  ],
  [
    'claim, types and lanes, one preferred',
    15 * COUNT,
    (on, { tenantId }) =>
      createClaims()(on, tenantId, claim({ types: ['t1', 't2'], preferred: ['t2'], capabilities: ['gpu'] })),
  ],
  [
    'claim of what there is none',
    10,
    (on, { tenantId }) => createClaims()(on, tenantId, claim({ types: ['no'] })),
  ],
  [
    'ready of one type',
    2 * COUNT + 2,
    (on, { tenantId }) => on.all(READY_OF_ONE_TYPE, [tenantId, '', COUNT, ...TWO_STRETCHES, 't1']),
  ],
  [
    'claim, the best of one type, out of turn',
    3 * COUNT + 3,
    (on, { tenantId }) => on.all(BEST_OF_ONE_TYPE, [tenantId, '', COUNT, ...TWO_STRETCHES, 'late']),
  ],
  [
    'ready of one lane',
    2 * COUNT + 2,
    (on, { tenantId }) => on.all(READY_OF_ONE_LANE, [tenantId, '', COUNT, ...TWO_STRETCHES]),
  ],
  [
    'hold counts',
    PAGE,
    (on, { tenantId, ids: taskIds }) =>
      holdCounts(on, tenantId, {
        taskIds,
        concurrencyKeys: new Set(['k']),
        workers: new Set(['w']),
        tenant: true,
      }),
  ],
  [
    'add segments',
    1, // the last one, once for all
    (on, { tenantId }) => insertSegments(on, tenantId, SEGMENTS),
  ],
  ['expect what is held', COUNT, (on, { tenantId, held }) => expectHeld(on, tenantId, held.slice(0, COUNT))],
  // Each is looked up, and then deleted where it lies.
  ['take what is held', 2 * COUNT, (on, { tenantId, held }) => takeHeld(on, tenantId, held.slice(0, COUNT))],
  [
    'parked heads',
    20,
    (on, { tenantId }) => parkedHeads(on, tenantId, [{ concurrencyKey: 'k', ending: 1, limit: null }]),
  ],
  ['due dependents', 0, (on) => dueDependents(on, PAGE)],
]

/** A few thousand tasks: queued of several types and lanes, delayed, parked, leased, finished. */
async function fill(rig: Rig): Promise<Pick<Place, 'ids' | 'held'>> {
  const create = (over: Parameters<typeof newTask>[0]) => ({ kind: 'create', task: newTask(over) }) as const
  const many = (count: number, make: (index: number) => Parameters<typeof newTask>[0]) =>
    rig.run(Array.from({ length: count }, (_, index) => create(make(index))))
  await many(300, () => ({ type: 'late' }))
  rig.pass(Date.now() - rig.now() + 60_000)
  await many(800, () => ({ type: 'done' }))
  await rig.run((await rig.claim({ types: ['done'] })).map(complete))
  await many(800, (index) => ({ type: `t${index % 3}`, priority: index % 2, tags: index % 2 ? ['red'] : [] }))
  await many(800, () => ({ type: 'foreign', priority: 9, capabilities: ['rare'] }))
  await many(300, (index) => ({ type: `t${index % 3}`, capabilities: ['gpu'] }))
  const awaited = await rig.create({ type: 'foreign', capabilities: ['rare'] })
  await many(300, () => ({ dependsOn: [awaited.taskId] }))
  await many(500, () => ({ delaySeconds: 3_600 }))
  await many(500, () => ({ type: 'held' }))
  const held = await rig.claim({ types: ['held'], max: 500 })
  await many(300, () => ({ type: 'keyed', concurrencyKey: 'k' }))
  const [first] = await rig.claim({ types: ['keyed'], max: 1 })
  for (let round = 0; round < 20; round++) await rig.claim({ types: ['keyed'] })
  const tasks = await rig.store.listTasks({ ...EVERY_TASK, tenantId: rig.tenantId, limit: PAGE })
  const ids = [...tasks.map(({ definition }) => definition.taskId).slice(1), first!.lease.taskId]
  return { ids, held }
}

/**
 * Statistics that are taken when nearly all that passes through a table is done and gone: then every index of it seems as good
 * as its key.
 */
const EMPTIED = [
  ...['queued', 'leased', 'obligations', 'dependencies'].map(
    (table) => `delete from ${table} where ctid <> (select ctid from ${table} limit 1);`,
  ),
  'analyze',
].join('')

async function administer(database: TestDatabase, sql: string): Promise<void> {
  const admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  await admin.query(sql)
  await admin.end()
}

describe.each(['planned while empty', 'planned once emptied', 'analysed'])('plans, %s', (when) => {
  let database: TestDatabase
  let store: Store
  let explainer: Explainer
  let place: Place

  async function explainAll(cases: readonly Case[]): Promise<void> {
    for (const [, , run] of cases) await run(explainer, place)
  }

  beforeAll(async () => {
    database = await createDatabase()
    store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
    await store.migrate()
    const rig = createRig(store)
    place = { tenantId: rig.tenantId, now: rig.now(), ids: [NONE], held: [] }
    explainer = await openExplainer(database.url, rig.tenantId)
    if (when === 'planned once emptied') {
      await fill(createRig(store))
      await administer(database, EMPTIED)
    }
    if (when !== 'analysed') await explainAll([...OWN_CASES, ...CASES])
    place = { ...place, ...(await fill(rig)) }
    if (when === 'analysed') await administer(database, 'analyze')
  }, 120_000)

  afterAll(async () => {
    await explainer.close()
    await store.close()
    await database.drop()
  })

  // Lists are planned at each call, and so never while there was nothing; but perhaps before anybody has analysed anything.
  test.each([...OWN_CASES, ...CASES, ...LISTS])('%s', async (what, rowsReadMax, run) => {
    const from = explainer.explained.length
    await run(explainer, place)
    const explained = explainer.explained.slice(from)
    const nodeTypes = explained.flatMap((each) => each.nodeTypes)
    expect(nodeTypes).not.toContain('Seq Scan')
    // What is merged is small: the looks of a claim, the two sides of a page, a task's pages, a batch's keys.
    if (!/claim|concerning|taskId|hold counts/.test(what)) expect(nodeTypes).not.toContain('Sort')
    expect(explained.reduce((sum, each) => sum + each.rowsRead, 0)).toBeLessThanOrEqual(rowsReadMax)
  })
})
