// Transactions of two instances on the same rows, made to meet: none waits for another that waits for it.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { AGENT, claimCommand, complete, createRig, holding } from './rig.ts'

const ACTOR = { principal: AGENT, sees: 'all' } as const

let database: TestDatabase
let stores: [Store, Store]
let holder: Client
let watcher: Client

beforeAll(async () => {
  database = await createMigratedDatabase()
  const open = () => createPostgresStore({ ...database, poolSize: 4, preparedStatements: true })
  stores = [await open(), await open()]
  holder = new Client({ connectionString: database.adminUrl })
  watcher = new Client({ connectionString: database.adminUrl })
  await Promise.all([holder.connect(), watcher.connect()])
})

afterAll(async () => {
  await Promise.all([...stores.map((store) => store.close()), holder.end(), watcher.end()])
  await database.drop()
})

/** Runs both once each has come to one of these rows, and tells the deadlocks that they met. */
async function deadlocksOf(
  rows: { table: string; column: string; ids: readonly string[] },
  runs: readonly (() => Promise<unknown>)[],
): Promise<number> {
  await holder.query('begin')
  await holder.query(`select 1 from ${rows.table} where ${rows.column} = any ($1::uuid[]) for update`, [
    rows.ids,
  ])
  const before = await deadlocks()
  const running = Promise.all(runs.map((run) => run()))
  while ((await waiting()) < runs.length);
  await holder.query('commit')
  await running
  return (await deadlocks()) - before
}

async function waiting(): Promise<number> {
  const { rows } = await watcher.query<{ n: number }>(`
    select count(*)::int as n from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`)
  return rows[0]!.n
}

async function deadlocks(): Promise<number> {
  const { rows } = await watcher.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.n
}

/** The first time each connection prepares its statements, and they come apart. */
const ROUNDS = 6

test('late reports of what the other instance is about to claim', async () => {
  const rig = createRig(stores[0])
  const released = async (type: string, on: Store) => {
    await rig.create({ type }, on)
    const [grant] = await rig.claim({ types: [type] }, on)
    await rig.ask({ kind: 'release', ...holding(grant!), reason: null }, on)
    return grant!
  }
  for (let round = 0; round < ROUNDS; round++) {
    const [one, two] = [await released(`one ${round}`, stores[0]), await released(`two ${round}`, stores[1])]
    const gates = [await rig.create({ type: 'gate' }), await rig.create({ type: 'gate' })]
    const ids = gates.map(({ taskId }) => taskId)
    const unit = (at: 0 | 1, late: Grant, type: string) => () =>
      rig.run(
        [
          { kind: 'cancel', actor: ACTOR, taskId: ids[at]!, reason: null },
          complete(late),
          claimCommand({ types: [type] }),
        ],
        stores[at],
      )
    const met = await deadlocksOf({ table: 'queued', column: 'task_id', ids }, [
      unit(0, one, `two ${round}`),
      unit(1, two, `one ${round}`),
    ])
    expect(met).toBe(0)
  }
})

test('the same obligations discharged in opposite orders', async () => {
  const rig = createRig(stores[0])
  const submit = (receiptType: string, n: number, parents: readonly string[]): Command => ({
    kind: 'submitReceipt',
    from: AGENT,
    to: AGENT,
    receiptType,
    parents,
    body: { n },
    taskId: null,
    scheduleId: 's',
  })
  const ids: string[] = []
  for (const n of [1, 2, 3])
    ids.push((await rig.ask<{ receiptId: string }>(submit('schedule.created', n, []))).receiptId)
  const met = await deadlocksOf({ table: 'obligations', column: 'receipt_id', ids: [ids[1]!] }, [
    () => rig.ask(submit('schedule.deleted', 1, ids), stores[0]),
    () => rig.ask(submit('schedule.deleted', 2, ids.toReversed()), stores[1]),
  ])
  expect(met).toBe(0)
})

test('a task that lies on no shelf is refused, and not sought for ever', async () => {
  const rig = createRig(stores[0])
  const { taskId } = await rig.create()
  await watcher.query('delete from queued where task_id = $1', [taskId])
  const cancel = { kind: 'cancel', actor: ACTOR, taskId, reason: null } as const
  await expect(rig.ask(cancel)).rejects.toMatchObject({ code: 'database_unavailable' })
})
