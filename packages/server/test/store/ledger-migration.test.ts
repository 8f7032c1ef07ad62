// A ledger from before it was kept in segments: what a server had written, one row for each receipt, is all there after the
// migration, unchanged, and the ledger goes on where it was.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { opensObligation, receiptHash, receiptKey } from '../../src/engine/ledger.ts'
import type { Receipt } from '../../src/engine/model.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { MIGRATIONS as POSTGRES } from '../../src/store/postgres/migrations/index.ts'
import { checksum, type Migration } from '../../src/store/sql/migrate.ts'
import { keyOf } from '../../src/store/sql/segment.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { MIGRATIONS as SQLITE } from '../../src/store/sqlite/migrations/index.ts'
import { createDatabase } from '../database.ts'
import { NO_CHANGES, NO_NEEDS } from '../no-changes.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { anyCommand, type Known, learn } from './random-commands.ts'
import { AGENT, createRig, EVERY_RECEIPT, type Rig, WORKER } from './rig.ts'

const former = (migrations: readonly Migration[]) => migrations.filter(({ name }) => name < '0010')

type Row = Readonly<Record<string, string | number | null>>

/** Two tenants with histories of all sorts, and receipts of all sizes. */
async function writeHistories(memory: Store): Promise<Rig[]> {
  const rigs = [createRig(memory), createRig(memory, { seed: 2 })]
  for (const [seed, rig] of rigs.entries()) {
    const chance = createSeededRandom(seed)
    const known: Known = { taskIds: [], receiptIds: [], grants: [] }
    for (let batch = 0; batch < 100; batch++) {
      rig.pass(chance.below(3) * 500)
      const commands = Array.from({ length: 1 + chance.below(20) }, () =>
        anyCommand({ now: rig.now(), chance, known }),
      )
      learn(known, commands, await rig.run(commands))
      await rig.ask(note('x'.repeat(chance.below(12) ** 4), batch))
    }
  }
  return rigs
}

function note(text: string, number: number) {
  const from = { kind: 'human', id: 'a "quoted\\ name", Åsa' } as const
  const body = { z: 1e21, a: [0.1, null], text: `\u0000 é \u2028 "${text}"`, number }
  const fact = { receiptType: 'x.note', parents: [], taskId: null, scheduleId: 's-1' }
  return { kind: 'submitReceipt', ...fact, from, to: AGENT, body } as const
}

/** What the tables of the ledger held. */
async function formerRows(memory: Store, rigs: readonly Rig[]): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = { ledgers: [], receipts: [], ledger_pages: [], obligations: [] }
  for (const { tenantId } of rigs) {
    const all = await memory.listReceipts({ ...EVERY_RECEIPT, tenantId })
    const { activeTasks: active_tasks, receiptBytes: receipt_bytes } = await memory.readUsage(tenantId)
    const next_position = all.length + 1
    tables['ledgers']!.push({ tenant_id: tenantId, next_position, active_tasks, receipt_bytes })
    const marks = new Set<string>()
    for (const { position, receipt } of all) {
      const { receiptId, receiptType, from, to } = receipt
      tables['receipts']!.push(formerRow(receipt, position))
      const page = Math.floor(position / 128)
      for (const mark of [`to ${to.id}`, `from ${from.id}`, `type ${receiptType}`])
        marks.add(JSON.stringify({ tenant_id: tenantId, mark, page }))
      const discharged_by = await memory.dischargedBy(tenantId, receiptId)
      if (opensObligation(receiptType)) {
        const owed = { receipt_id: receiptId, receipt_type: receiptType, to_kind: to.kind, to_id: to.id }
        tables['obligations']!.push({ tenant_id: tenantId, ...owed, position, discharged_by: discharged_by! })
      }
    }
    tables['ledger_pages']!.push(...[...marks].map((mark) => JSON.parse(mark) as Row))
  }
  return tables
}

function formerRow(receipt: Receipt, position: number): Row {
  return {
    tenant_id: receipt.tenantId,
    position,
    receipt_id: receipt.receiptId,
    receipt_type: receipt.receiptType,
    created_at: receipt.createdAt,
    from_kind: receipt.from.kind,
    from_id: receipt.from.id,
    to_kind: receipt.to.kind,
    to_id: receipt.to.id,
    task_id: receipt.taskId,
    lease_id: receipt.leaseId,
    schedule_id: receipt.scheduleId,
    parents: JSON.stringify(receipt.parents),
    body: JSON.stringify(receipt.body),
    hash: receipt.hash,
    receipt_key: keyOf(receipt),
    instance: receipt.instance,
  }
}

/** Hashes and keys are bytes. */
function insertion(
  table: string,
  row: Row,
  bytes: (place: string) => string,
): [string, (string | number | null)[]] {
  const names = Object.keys(row)
  const places = names.map((name, index) =>
    name === 'hash' || name === 'receipt_key' ? bytes(`$${index + 1}`) : `$${index + 1}`,
  )
  return [`insert into ${table} (${names.join()}) values (${places.join()})`, Object.values(row)]
}

async function expectSame(store: Store, memory: Store, rigs: readonly Rig[]): Promise<void> {
  for (const { tenantId } of rigs) {
    const all = await memory.listReceipts({ ...EVERY_RECEIPT, tenantId })
    expect(all.length).toBeGreaterThan(500)
    expect(await store.listReceipts({ ...EVERY_RECEIPT, tenantId })).toEqual(all)
    for (const { receipt } of await store.listReceipts({ ...EVERY_RECEIPT, tenantId }))
      expect(receiptHash(receipt)).toBe(receipt.hash)
    const usage = await memory.readUsage(tenantId)
    expect(usage.activeTasks).toBeGreaterThan(0)
    expect(await store.readUsage(tenantId)).toEqual(usage)
    const tasks = [...new Set(all.map(({ receipt }) => receipt.taskId))].slice(0, 40)
    const queries = [
      { to: AGENT },
      { from: WORKER },
      { receiptType: 'task.completed' },
      { concerning: AGENT },
      ...tasks.map((taskId) => ({ taskId })),
    ].map((filter) => ({ ...EVERY_RECEIPT, ...filter, tenantId }))
    for (const query of queries)
      expect(await store.listReceipts(query)).toEqual(await memory.listReceipts(query))
    const ids = all.map(({ receipt }) => receipt.receiptId)
    expect(await store.readReceipts(tenantId, ids)).toEqual(all)
    const owed = { tenantId, principal: AGENT, after: null, limit: 10_000 }
    expect(await store.openObligations(owed)).toEqual(await memory.openObligations(owed))
  }
  expect(await store.findDoubtfulObligations(10)).toEqual([])
}

/** A fact that was recorded before is found by its key, and the next receipt has the next position. */
async function expectToGoOn(store: Store, { tenantId }: Rig): Promise<void> {
  const all = await store.listReceipts({ ...EVERY_RECEIPT, tenantId })
  const last = all.at(-1)!
  const key = receiptKey(last.receipt, last.receipt.hash)
  const needs = { ...NO_NEEDS, receiptKeys: new Set([key]) }
  const again = { ...NO_CHANGES, receipts: [{ ...last.receipt, receiptType: 'task.seen' }] }
  const found = await store.transact({
    tenantId,
    now: 0,
    needs,
    decide: ({ receiptsByKey }) => ({ changes: again, result: receiptsByKey.get(key) }),
  })
  expect(found).toEqual(last.receipt)
  const [next] = await store.listReceipts({ ...EVERY_RECEIPT, tenantId, after: last.position })
  expect(next).toMatchObject({ position: last.position + 1, receipt: { receiptType: 'task.seen' } })
}

const RECORD = 'insert into schema_migrations (name, checksum) values'
const SCHEMA_MIGRATIONS =
  'create table schema_migrations (name text primary key, checksum text, applied_at text)'

test('on SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-migration-'))
  const path = join(folder, 'gate.db')
  const memory = createMemoryStore()
  const rigs = await writeHistories(memory)
  const raw = new DatabaseSync(path)
  raw.exec(SCHEMA_MIGRATIONS)
  for (const migration of former(SQLITE)) {
    raw.exec(migration.sql)
    raw.prepare(`${RECORD} (?, ?)`).run(migration.name, checksum(migration))
  }
  raw.exec('begin')
  for (const [table, rows] of Object.entries(await formerRows(memory, rigs))) {
    for (const row of rows) {
      const [text, values] = insertion(table, row, (place) => `unhex(${place})`)
      raw.prepare(text.replaceAll('$', '?')).run(...values)
    }
  }
  raw.exec('commit')
  const before = raw
    .prepare('select tenant_id, position, body from receipts order by tenant_id, position')
    .all()
  const store = await createSqliteStore({ path })
  expect(await store.migrate()).toContain('0011_ledger_segments')
  await expectSame(store, memory, rigs)
  const sql = 'select tenant_id, position, body from receipts order by tenant_id, position'
  expect(raw.prepare(sql).all()).toEqual(before)
  raw.close()
  await expectToGoOn(store, rigs[0]!)
  await store.close()
  await rm(folder, { recursive: true })
})

test('on PostgreSQL, under the roles that migrate and serve', async () => {
  const database = await createDatabase()
  const memory = createMemoryStore()
  const rigs = await writeHistories(memory)
  const owner = new Client({ connectionString: database.migrationUrl })
  await owner.connect()
  await owner.query(SCHEMA_MIGRATIONS)
  for (const migration of former(POSTGRES)) {
    await owner.query(migration.sql)
    await owner.query(`${RECORD} ($1, $2)`, [migration.name, checksum(migration)])
  }
  await owner.end()
  const admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  for (const [table, rows] of Object.entries(await formerRows(memory, rigs)))
    for (const row of rows) await admin.query(...insertion(table, row, (place) => `decode(${place}, 'hex')`))
  const sql = 'select tenant_id, position, body::text from receipts order by tenant_id, position'
  const before = (await admin.query(sql)).rows
  const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  expect(await store.migrate()).toContain('0011_ledger_segments')
  await expectSame(store, memory, rigs)
  expect((await admin.query(sql)).rows).toEqual(before)
  await admin.end()
  await expectToGoOn(store, rigs[0]!)
  await store.close()
  await database.drop()
})
