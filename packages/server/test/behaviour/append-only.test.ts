// Append-only, held by the databases themselves: who goes past AsyncGate cannot change a receipt either.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect } from 'vitest'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { createDatabase } from '../database.ts'
import { verifies } from '../requirements.ts'
import { openBench } from './harness.ts'
import { queue } from './steps.ts'

const TAMPERING = [
  `update ledger_segments set receipts = replace(receipts, 'task.assigned', 'task.completed')`,
  `update ledger_segments set first_position = first_position`,
  `delete from ledger_segments`,
]
/** The view shows receipts one by one, and changes none. */
const THROUGH_THE_VIEW = [`update receipts set body = '{}'`, `delete from receipts`]

verifies('RCPT-1', 'SQLite itself refuses to change or delete a receipt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-tamper-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  await store.migrate()
  const bench = await openBench(store)
  await queue(bench)
  const before = await bench.receipts()
  const database = new DatabaseSync(path)
  for (const statement of TAMPERING) expect(() => database.exec(statement)).toThrow('append-only')
  for (const statement of THROUGH_THE_VIEW) expect(() => database.exec(statement)).toThrow('view')
  database.close()
  expect(await bench.receipts()).toEqual(before)
  await store.close()
  await rm(folder, { recursive: true })
})

verifies(
  'RCPT-1',
  'PostgreSQL itself refuses to change or delete a receipt, to a superuser too',
  async () => {
    const database = await createDatabase()
    const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
    await store.migrate()
    const bench = await openBench(store)
    await queue(bench)
    const before = await bench.receipts()
    const owner = new Client({ connectionString: database.adminUrl })
    await owner.connect()
    for (const statement of [...TAMPERING, 'truncate ledger_segments', 'truncate ledger_segments cascade'])
      await expect(owner.query(statement)).rejects.toThrow('append-only')
    for (const statement of THROUGH_THE_VIEW) await expect(owner.query(statement)).rejects.toThrow('view')
    await owner.end()
    expect(await bench.receipts()).toEqual(before)
    await store.close()
    await database.drop()
  },
)
