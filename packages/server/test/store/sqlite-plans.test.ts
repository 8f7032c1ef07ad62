// Plans on SQLite: its planner looks at the statement and not at the tables, so an empty database shows what
// a full one does.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bulk, Columns, Query, Session } from '../../src/store/sql/session.ts'
import {
  READY_OF_ANY_TYPE,
  READY_OF_TYPE,
  READY_TASKS_OF_ANY_TYPE,
  READY_TASKS_OF_TYPE,
} from '../../src/store/sqlite/claims.ts'
import { expectHeld, takeHeld } from '../../src/store/sqlite/held.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { HEADS, NEXT_GROUP } from '../../src/store/sqlite/parked.ts'
import { sqliteText } from '../../src/store/sqlite/words.ts'
import { type Case, CASES, LISTS, NONE } from './plan-cases.ts'

const OWN_CASES: Case[] = [
  ['claim, any type', 0, (on, { tenantId }) => on.all(READY_OF_ANY_TYPE, [tenantId, '', 1])],
  ['claim, one type', 0, (on, { tenantId }) => on.all(READY_OF_TYPE, [tenantId, '', 1, 't1'])],
  ['claim, tasks, any type', 0, (on, { tenantId }) => on.all(READY_TASKS_OF_ANY_TYPE, [tenantId, '', 1])],
  ['claim, tasks, one type', 0, (on, { tenantId }) => on.all(READY_TASKS_OF_TYPE, [tenantId, '', 1, 't1'])],
  ['expect what is held', 0, (on, { tenantId }) => expectHeld(on, tenantId, [])],
  ['take what is held', 0, (on, { tenantId }) => takeHeld(on, tenantId, [])],
  ['parked groups', 0, (on, { tenantId }) => on.all(NEXT_GROUP, [tenantId, 'k', '', '', 0])],
  ['parked heads', 0, (on, { tenantId }) => on.all(HEADS, [tenantId, 'k', '', 't1', 1, 0])],
]

let folder: string
let database: DatabaseSync

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-plans-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  // Before the migration, as the store's own reading connection.
  database = new DatabaseSync(path, { readOnly: true })
  await store.migrate()
  await store.close()
})

afterAll(async () => {
  database.close()
  await rm(folder, { recursive: true })
})

/** A session that collects the steps of each statement instead of running it. */
function explaining(steps: string[]): Session {
  const explain = (of: Query | Bulk<Columns>) => {
    const rows = database.prepare(`explain query plan ${sqliteText(of)}`).all()
    steps.push(...rows.map((row) => String(row['detail'])))
    return []
  }
  return { all: async (query) => explain(query), each: async (bulk) => explain(bulk) }
}

test.each([...OWN_CASES, ...CASES, ...LISTS])('%s', async (what, _rowsReadMax, run) => {
  const steps: string[] = []
  await run(explaining(steps), { tenantId: 'tenant', now: 0, ids: [NONE], held: [] })
  expect(steps.length).toBeGreaterThan(0)
  // The input row, and pages that were already cut, may be scanned; tables may not.
  expect(
    steps.filter((step) => /^SCAN (?!x$|h$|CONSTANT|owned|owed|page|marked|received|sent)/.test(step)),
  ).toEqual([])
  // A tenant alone narrows nothing down: right for the unfiltered lists, for whole shelves, for the least of an order and for
  // the row of the tenant itself, wrong elsewhere.
  const whole =
    /^(tasks|receipts) {}$|^tasks {"status":"(queued|leased)"}$|^next delay$|^key by its beginning$|account|mark pages/.test(
      what,
    )
  if (!whole) expect(steps.filter((step) => step.includes('(tenant_id=?)'))).toEqual([])
  if (!/concerning|taskId/.test(what))
    expect(steps.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
})
