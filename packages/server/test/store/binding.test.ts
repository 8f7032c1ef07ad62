// What is bound to a statement arrives as it was given, with statements that are prepared and with those that are not; and what
// cannot be written down takes its transaction with it, and nothing else.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSessions } from '../../src/store/postgres/client.ts'
import { createPool } from '../../src/store/postgres/pool.ts'
import { beginTransaction, wireOnAny } from '../../src/store/postgres/transaction.ts'
import { bulk, query, type Transaction } from '../../src/store/sql/session.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

const ID = '01234567-89ab-7cde-8f01-23456789abcd'
const OTHER_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const PLAIN = query(
  'plain',
  () => 'select $1::text as text, $2::bigint as number, $3::boolean as flag, $4::text as nothing',
)
const ROWS = bulk(
  'rows',
  {
    id: 'uuid',
    text: 'text',
    list: 'texts',
    small: 'int',
    large: 'bigint',
    flag: 'boolean',
    value: 'json',
    bytes: 'hex',
    place: 'address',
    nothing: 'text',
  },
  (x) => `
    select $1::text as tenant, x.id, x.text, array_to_json(x.list) as list, x.small, x.large, x.flag, x.value,
      encode(x.bytes, 'hex') as bytes, x.place::text as place, x.nothing
    from ${x}`,
)
const CREATE = query('create', () => 'create table kept (id uuid)')
const KEEP = bulk(
  'keep',
  { id: 'uuid' },
  (x) => `insert into kept select x.id from ${x} where $1::text is not null`,
)
const KEPT = query('kept', () => 'select id::text as id from kept')

describe.each([true, false])('prepared statements: %s', (preparedStatements) => {
  let database: TestDatabase
  let connected: Parameters<typeof beginTransaction>[0]

  beforeAll(async () => {
    database = await createDatabase()
    const pool = createPool({ url: database.adminUrl, poolSize: 1, preparedStatements })
    connected = { pool, sessionOn: createSessions({ preparedStatements }) }
  })

  afterAll(async () => {
    await connected.pool.end()
    await database.drop()
  })

  /** All on the one connection that there is. */
  async function run<T>(write: (tx: Transaction) => Promise<T>): Promise<T> {
    const tx = await beginTransaction(connected, { scope: { tenantId: 'a' }, readOnly: false })
    try {
      const written = write(tx)
      await tx.commit(written)
      return await written
    } catch (error) {
      await tx.rollback()
      throw error
    }
  }

  test.each(['', 'é😀', '\ud800!', '\'"\\', 'ü'.repeat(50_000), 'x'.repeat(3_000_000), 'short'])(
    'texts of every kind and length',
    async (text) => {
      const read = Buffer.from(text).toString() // half a character is none
      const row = { id: ID, text, list: [text, ''], small: -7, large: -(2 ** 40), flag: false }
      const full = { ...row, value: { text }, bytes: '00ff', place: '(7,8)', nothing: null }
      const [plain, rows] = await run((tx) =>
        Promise.all([tx.all(PLAIN, [text, 2 ** 40, true, null]), tx.each(ROWS, 'ten é', [full, full])]),
      )
      expect(plain).toEqual([{ text: read, number: 2 ** 40, flag: true, nothing: null }])
      const expected = {
        ...full,
        text: read,
        list: expect.anything(),
        value: JSON.stringify({ text }),
        tenant: 'ten é',
      }
      expect(rows).toEqual([expected, expected])
      expect(rows.map((each) => JSON.parse((each as { list: string }).list))).toEqual([
        [read, ''],
        [read, ''],
      ])
    },
  )

  test('what rows have in common arrives in each of them, and what they have not as each has it', async () => {
    const one = { id: ID, text: 'ä', list: ['x', 'ü'], small: -7, large: 2 ** 40, flag: true }
    const first = { ...one, value: { n: 1 }, bytes: '00ff', place: '(7,8)', nothing: 'something' }
    const other = {
      text: '',
      list: [],
      small: 8,
      large: -1,
      flag: false,
      value: [2],
      bytes: '',
      place: '(0,1)',
    }
    const second = { ...other, id: OTHER_ID, nothing: null }
    const names = Object.keys(first) as (keyof typeof first)[]
    const read = (row: typeof first | typeof second) => ({
      ...row,
      list: expect.anything(),
      value: JSON.stringify(row.value),
      tenant: 'a',
    })
    // Each column differs in a turn of its own, and in the last all do.
    for (const differing of [...names.map((name) => [name]), names]) {
      const changed = Object.fromEntries(differing.map((name) => [name, second[name]]))
      const rows = [first, { ...first, ...changed }, first]
      const found = await run((tx) => tx.each<{ list: string }, typeof ROWS.columns>(ROWS, 'a', rows))
      expect(found).toEqual(rows.map(read))
      expect(found.map(({ list }) => JSON.parse(list) as unknown)).toEqual(rows.map(({ list }) => list))
    }
  })

  test('what rows lack is null, in some of them and in all', async () => {
    const lacking = [{ id: ID }, {}, { id: OTHER_ID, small: 1 }] as never[]
    const rows = await run((tx) => tx.each(ROWS, 'a', lacking))
    const none = {
      text: null,
      list: null,
      small: null,
      large: null,
      flag: null,
      value: null,
      bytes: null,
      place: null,
    }
    const empty = { tenant: 'a', ...none, nothing: null }
    expect(rows).toEqual([
      { ...empty, id: ID },
      { ...empty, id: null },
      { ...empty, id: OTHER_ID, small: 1 },
    ])
  })

  test('a statement that cannot be written down is not sent, and its transaction is rolled back', async () => {
    await run((tx) => tx.all(CREATE, []))
    const outcomes = await run(async (tx) => {
      const asked = [[{ id: ID }], [{ id: OTHER_ID }, { id: 'none' }], [{ id: OTHER_ID }]]
      return Promise.allSettled(asked.map((rows) => tx.each(KEEP, 'a', rows)))
    }).catch((error: unknown) => error)
    expect(outcomes).toMatchObject({ kind: 'conflict' })
    await expect(run((tx) => tx.each(KEEP, 'a', [{ id: 'none' }]))).rejects.toThrow('not an id')
    expect(await run((tx) => tx.all(KEPT, []))).toEqual([])
    await run((tx) => tx.each(KEEP, 'a', [{ id: ID }]))
    expect(await run((tx) => tx.all(KEPT, []))).toEqual([{ id: ID }])
  })

  test('rows that cannot be taken apart end their transaction, and leave nobody without an answer', async () => {
    await run((tx) =>
      tx.all(
        query('anew', () => 'create table if not exists kept (id uuid)'),
        [],
      ),
    )
    await run((tx) =>
      tx.all(
        query('clear', () => 'delete from kept'),
        [],
      ),
    )
    const unheard: unknown[] = []
    const note = (reason: unknown) => unheard.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const write = (tx: Transaction) =>
      Promise.all([tx.each(KEEP, 'a', [{ id: ID }]), tx.each(KEEP, 'a', [null as never])])
    await expect(run(write)).rejects.toThrow(TypeError)
    await expect(run(async (tx) => write(tx))).rejects.toThrow(TypeError)
    expect(await run((tx) => tx.all(KEPT, []))).toEqual([])
    expect(unheard).toEqual([])
  })

  test('what cannot be written down outside a transaction costs no connection', async () => {
    const session = connected.sessionOn(wireOnAny(connected.pool))
    const pid = () =>
      session.all(
        query('pid', () => 'select pg_backend_pid() as pid'),
        [],
      )
    const before = await pid()
    await expect(session.each(KEEP, 'a', [{ id: 'none' }])).rejects.toThrow()
    expect(await pid()).toEqual(before)
  })

  test('what the database refuses, it refuses in its own words, and the connection serves the next', async () => {
    const refused = run((tx) => Promise.all([tx.all(PLAIN, ['a\0b', 1, true, null]), tx.all(KEPT, [])]))
    await expect(refused).rejects.toMatchObject({ cause: { code: '22021' } })
    const row = { id: ID, text: 'a\0b' } as never
    await expect(run((tx) => tx.each(ROWS, 'a', [row]))).rejects.toMatchObject({ cause: { code: '22021' } })
    expect(await run((tx) => tx.all(PLAIN, ['a', 1, true, null]))).toHaveLength(1)
  })
})
