// The table of states becomes three shelves, on databases that hold tasks already: nothing that a worker or a reader can
// ask for is lost.
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { MIGRATIONS as ON_POSTGRES } from '../../src/store/postgres/migrations/index.ts'
import { MIGRATIONS as ON_SQLITE } from '../../src/store/sqlite/migrations/index.ts'
import type { Migration } from '../../src/store/sql/migrate.ts'
import { createDatabase } from '../database.ts'

const id = (n: number) => `019b76da-0000-7000-8000-00000000000${n}`

/** Waits after a failure; is held; was completed; was canceled while it waited; was given up after lost leases. */
const [WAITING, HELD, DONE, CANCELED, POISONED] = [1, 2, 3, 4, 5].map((n) => ({
  task: id(n),
  receipt: id(n),
})) as [Numbered, Numbered, Numbered, Numbered, Numbered]
type Numbered = { readonly task: string; readonly receipt: string }

const task = ({ task: taskId }: Numbered) =>
  `('t', '${taskId}', 'greet', 'gpu', 7, 'agent', 'ada', 'agent', 'ada', null, null, 'k', 2, null, 1, '${taskId}', '{}', '{}')`
const state = (of: Numbered, rest: string) => `('t', '${of.task}', ${rest})`
const lease = (n: number, of: Numbered, rest: string) =>
  `('t', '${id(n)}', '${of.task}', 'worker', 'w', ${rest})`

const BEFORE = `
insert into tasks values ${[WAITING, HELD, DONE, CANCELED, POISONED].map(task).join(', ')};
insert into task_states values
  ${state(WAITING, "'queued', 'delayed', 1, 0, 1, 90, 50, 40, null, false, true, null, null")},
  ${state(HELD, "'running', 'none', 0, 2, 3, 10, 60, 55, null, false, false, null, null")},
  ${state(DONE, `'succeeded', 'none', 0, 0, 1, 10, 70, 65, 70, false, false, '${DONE.receipt}', '{"outcome":"succeeded"}'`)},
  ${state(CANCELED, `'canceled', 'none', 0, 0, 0, 10, 80, null, 80, false, false, '${CANCELED.receipt}', '{"outcome":"canceled"}'`)},
  ${state(POISONED, `'failed', 'none', 0, 21, 1, 10, 81, null, 81, true, false, '${POISONED.receipt}', '{"outcome":"failed"}'`)};
insert into leases values
  ${lease(6, WAITING, `1, 40, 1000, 1040, null, 1040, 0, 'k', 50, 'failed', '{"action":"fail"}'`)},
  ${lease(7, HELD, "3, 55, 1000, 1060, 2000, 1055, 4, 'k', null, null, null")},
  ${lease(8, DONE, `1, 65, 1000, 1065, null, 1065, 0, 'k', 70, 'completed', '{"action":"complete"}'`)},
  ${lease(9, POISONED, "1, 71, 10, 81, null, 81, 0, 'k', 81, 'expired', null")};
`

const SHELVES = ['queued', 'leased', 'ended', 'settlements'] as const

async function inspect(all: (sql: string) => Promise<unknown[]> | unknown[]) {
  const found: unknown[][] = []
  for (const shelf of SHELVES) found.push(await all(`select * from ${shelf} order by task_id`))
  const [queued, leased, ended, settlements] = found
  expect(queued).toMatchObject([
    {
      task_id: WAITING.task,
      place: 'delayed',
      lane: 'gpu',
      type: 'greet',
      neg_priority: -7,
      concurrency_key: 'k',
      concurrency_limit: 2,
      attempt: 1,
      fence: 1,
    },
  ])
  expect(leased).toMatchObject([
    {
      task_id: HELD.task,
      status: 'running',
      lease_id: id(7),
      worker_id: 'w',
      renewals: 4,
      expiries: 2,
      fence: 3,
    },
  ])
  expect(ended).toMatchObject([
    { task_id: DONE.task, status: 'succeeded', lease_id: id(8), worker_kind: 'worker' },
    { task_id: CANCELED.task, status: 'canceled', lease_id: null, settlement: null },
    { task_id: POISONED.task, status: 'failed', expiries: 21, lease_id: null },
  ])
  expect(settlements).toMatchObject([{ task_id: WAITING.task, lease_id: id(6), worker_id: 'w' }])
}

/** With the migrations before it, and the rows that they held. */
function upTo(all: readonly Migration[]): [string[], string] {
  const at = all.findIndex(({ name }) => name === '0010_shelves')
  return [all.slice(0, at).map(({ sql }) => sql), all[at]!.sql]
}

test('on SQLite', async () => {
  const database = new DatabaseSync(':memory:')
  const [earlier, shelves] = upTo(ON_SQLITE)
  for (const sql of earlier) database.exec(sql)
  database.exec(BEFORE)
  database.exec(shelves)
  await inspect((sql) => database.prepare(sql).all())
  database.close()
})

test('on PostgreSQL', async () => {
  const { migrationUrl, drop } = await createDatabase()
  const client = new Client({ connectionString: migrationUrl })
  await client.connect()
  const [earlier, shelves] = upTo(ON_POSTGRES)
  for (const sql of earlier) await client.query(sql)
  await client.query("select set_config('asyncgate.tenant', 't', false)")
  await client.query(BEFORE)
  await client.query("select set_config('asyncgate.tenant', '', false)")
  await client.query(shelves)
  await client.query("select set_config('asyncgate.tenant', 't', false)")
  await inspect(async (sql) => (await client.query(sql)).rows)
  await client.end()
  await drop()
})
