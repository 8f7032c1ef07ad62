// Claims begin where everything older is known to be taken, by the clock of the database: also when that is set, or another
// database with another clock has taken over.
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { createRig, type Rig } from './rig.ts'

let database: TestDatabase
let store: Store
let admin: Client

/** Both clocks that are asked, as much ahead as a table says. */
const SHADOWS = `
  create table public.ahead (ms int not null);
  insert into public.ahead values (0);
  grant select on public.ahead to public;
  create function public.statement_timestamp() returns timestamptz language sql stable as
    'select pg_catalog.statement_timestamp() + (select ms from public.ahead) * interval ''1 ms''';
  create function public.clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() + (select ms from public.ahead) * interval ''1 ms''';
`

beforeAll(async () => {
  database = await createMigratedDatabase()
  admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  await admin.query(SHADOWS)
  const { rows } = await admin.query<{ name: string }>('select current_database() as name')
  await admin.query(`alter database ${rows[0]!.name} set search_path = public, pg_catalog`)
  store = await createPostgresStore({ ...database, poolSize: 4, preparedStatements: true })
})

beforeEach(() => setAhead(0))

afterAll(async () => {
  await admin.end()
  await store.close()
  await database.drop()
})

async function setAhead(ms: number): Promise<void> {
  await admin.query('update public.ahead set ms = $1', [ms])
}

function createNow(rig: Rig, summary: string) {
  rig.pass(Date.now() - rig.now())
  return rig.create({ summary })
}

test('what is created after the clock was set back is found', async () => {
  const rig = createRig(store)
  await createNow(rig, 'first')
  await rig.claim()
  await setAhead(60_000)
  await createNow(rig, 'while it is ahead')
  expect(await rig.claimed()).toEqual(['while it is ahead'])
  await setAhead(0)
  await createNow(rig, 'afterwards')
  expect(await rig.claimed()).toEqual(['afterwards'])
})

test('who claims seldom finds at once what a very slow transaction has left', async () => {
  const rig = createRig(store)
  const slow = createRig(store, { tenantId: rig.tenantId, seed: 7 })
  const putInTurn = () =>
    admin.query('update queued set out_of_turn = false where tenant_id = $1', [rig.tenantId])
  rig.pass(10_000)
  await rig.create({ summary: 'a' })
  await rig.claim()
  await rig.create({ summary: 'b' })
  await putInTurn()
  expect(await rig.claimed()).toEqual(['b'])
  expect(await rig.claimed()).toEqual([])
  // As if it had been in its turn, and its commit had taken longer than it may.
  await slow.create({ summary: 'slow' })
  await putInTurn()
  await setAhead(5_000)
  expect(await rig.claimed()).toEqual(['slow'])
})
