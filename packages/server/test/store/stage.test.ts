// Statements that go to PostgreSQL in one stage: each is answered, or fails with what failed first.
import { Client, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBinder } from '../../src/store/postgres/binding.ts'
import { createPool } from '../../src/store/postgres/pool.ts'
import { type Statement, type Wire, wireOn } from '../../src/store/postgres/stage.ts'
import type { Value } from '../../src/store/sql/session.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
let pool: ReturnType<typeof createPool>

beforeAll(async () => {
  database = await createDatabase()
  pool = createPool({ url: database.url, poolSize: 1, preparedStatements: true })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** All on the one connection that there is, each time as a new user of it. */
async function using<T>(run: (wire: Wire, client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = true
  try {
    const result = await run(wireOn(client), client)
    broken = false
    return result
  } finally {
    client.release(broken)
  }
}

const named = (name: string, text: string, ...values: Value[]) => {
  return (): Statement => ({ name, text, write: makeBinder(name)(values) })
}
const unnamed = (text: string, ...values: Value[]) => {
  return (): Statement => ({ text, write: makeBinder('')(values) })
}
const half = (n: number) => named('half', 'select 10 / $1::int as half', n)

test('rows, commands and values of every kind come back in the order asked', async () => {
  const all =
    'select $1::text as a, $2::bigint as b, $3::boolean as c, $4::json as d, $5::bytea as e, $6::int as f'
  const answers = await using((wire) =>
    Promise.all([
      wire.ask(unnamed('begin')),
      wire.ask(named('all', all, 'ä', 2 ** 40, false, '{"x": 1}', '\\xff', null)),
      wire.ask(unnamed('select n from generate_series(1, 3) as n')),
      wire.ask(unnamed('select 1 where false')),
      wire.ask(unnamed('commit')),
    ]),
  )
  const row = { a: 'ä', b: 2 ** 40, c: false, d: '{"x": 1}', e: Buffer.from([255]), f: null }
  expect(answers).toEqual([
    { command: 'BEGIN', rows: [] },
    { command: 'SELECT', rows: [row] },
    { command: 'SELECT', rows: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    { command: 'SELECT', rows: [] },
    { command: 'COMMIT', rows: [] },
  ])
})

test('a prepared statement is parsed once for a connection, also twice in one stage', async () => {
  const rows = await using(async (wire) => {
    const first = await Promise.all([wire.ask(half(2)), wire.ask(half(5))])
    const second = await wire.ask(half(10))
    const known = await wire.ask(
      unnamed("select count(*)::int as n from pg_prepared_statements where name = 'half'"),
    )
    return [...first, second, known].map((answer) => answer.rows)
  })
  expect(rows).toEqual([[{ half: 5 }], [{ half: 2 }], [{ half: 1 }], [{ n: 1 }]])
})

test('those after one that fails fail with its reason, in this stage and the next', async () => {
  const outcomes = await using(async (wire) => {
    const stage = await Promise.allSettled([
      wire.ask(unnamed('select 1 as one')),
      wire.ask(half(0)),
      wire.ask(named('later', 'select 2 as two')),
    ])
    const next = await Promise.allSettled([wire.ask(half(2))])
    return [...stage, ...next]
  })
  expect(outcomes[0]).toMatchObject({ status: 'fulfilled', value: { rows: [{ one: 1 }] } })
  for (const outcome of outcomes.slice(1)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
  }
})

test('what a failed stage prepared is known afterwards, and what it did not reach is not', async () => {
  await using((wire) =>
    Promise.allSettled([
      wire.ask(named('fresh', 'select 1 / $1::int as n', 0)),
      wire.ask(named('unreached', 'select 3 as n')),
      wire.ask(named('unreached', 'select 3 as n')),
    ]),
  )
  const answers = await using((wire) =>
    Promise.all([
      wire.ask(named('fresh', 'select 1 / $1::int as n', 1)),
      wire.ask(named('unreached', 'select 3 as n')),
    ]),
  )
  expect(answers.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 3 }]])
})

test('a statement that cannot be parsed leaves nothing behind', async () => {
  const wrong = named('wrong', 'select from nowhere at all')
  for (let round = 0; round < 2; round++) {
    await expect(using((wire) => wire.ask(wrong))).rejects.toMatchObject({ code: '42601' })
  }
})

test('a connection that is cut fails all that was asked on it', async () => {
  const admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  const failed = using(async (wire) => {
    const { rows } = await wire.ask(unnamed('select pg_backend_pid() as pid'))
    const asked = Promise.allSettled([
      wire.ask(unnamed('select pg_sleep(30)')),
      wire.ask(unnamed('select 1')),
    ])
    await admin.query('select pg_terminate_backend($1)', [(rows[0] as { pid: number }).pid])
    for (const outcome of await asked) if (outcome.status === 'rejected') throw outcome.reason
  })
  await expect(failed).rejects.toThrow()
  await admin.end()
  await expect(using((wire) => wire.ask(unnamed('select 1 as one')))).resolves.toMatchObject({
    rows: [{ one: 1 }],
  })
})
