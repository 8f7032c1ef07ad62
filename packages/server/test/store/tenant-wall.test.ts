// The second wall between tenants: PostgreSQL itself shows and changes the rows of the tenant that a transaction has
// entered, whatever the statements of this program say.
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { SHARED_TABLES, TENANT_TABLES, TENANT_VIEWS } from '../../src/store/postgres/migrations/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { NO_NEEDS } from '../no-changes.ts'
import { verifies } from '../requirements.ts'
import { createUnfilteredStore } from '../unfiltered.ts'
import { complete, createRig, EVERY_TASK, type Rig } from './rig.ts'

/** These serve the few looks across tenants. */
const ACROSS = [
  'leased_check',
  'timers_due',
  'api_keys_prefix',
  'audit_log_at',
  'accounts_id',
  'oauth_clients_id',
  'stored_results_due',
]

let database: TestDatabase
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  database = await createDatabase()
  await (await open(createPostgresStore({ ...database, poolSize: 2, preparedStatements: true }))).migrate()
})
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close()
})
afterAll(() => database.drop())

async function open(opening: Promise<Store>): Promise<Store> {
  const store = await opening
  opened.push(store)
  return store
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  opened.push({ close: () => client.end() })
  return client
}

const unfiltered = (poolSize: number, url = database.url) =>
  open(Promise.resolve(createUnfilteredStore({ ...database, url, poolSize, preparedStatements: true })))

const enter = (client: Client, tenantId: string) =>
  client.query("select set_config('asyncgate.tenant', $1, true)", [tenantId])

async function countOf(client: Client, table = 'tasks'): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`)
  return rows[0]!.count
}

const INSERT = 'insert into discharges values ($1, gen_random_uuid(), gen_random_uuid())'

describe('the schema', () => {
  verifies('TEN-1', 'every table with a tenant is walled off, and binds its owner', async () => {
    const { rows } = await (await connect(database.adminUrl)).query(`
      select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
        (select array_agg(polname::text || ' ' || polcmd::text order by polname) from pg_policy where polrelid = c.oid) as policies
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`)
    const policies = ['every_tenant_to_look r', 'own_tenant *']
    expect(rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      TENANT_TABLES.toSorted().map((name) => ({ name, forced: true, policies })),
    )
  })

  verifies('TEN-1', 'a table without a tenant holds nothing of theirs', async () => {
    const { rows } = await (await connect(database.adminUrl)).query<{ relname: string }>(`
      select relname from pg_class c where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
      and not exists (select from pg_attribute where attrelid = c.oid and attname = 'tenant_id')`)
    const names = rows.map(({ relname }) => relname)
    expect(names.toSorted()).toEqual([...SHARED_TABLES, 'schema_migrations'].toSorted())
  })

  verifies(
    'TEN-1',
    'the tenant leads every key and index but those of the looks across tenants',
    async () => {
      const { rows } = await (await connect(database.adminUrl)).query<{ name: string }>(
        `select i.indexrelid::regclass::text as name from pg_index i
      join pg_attribute a on a.attrelid = i.indexrelid and a.attnum = 1
      where i.indrelid = any ($1::text[]::regclass[]) and a.attname <> 'tenant_id'`,
        [TENANT_TABLES],
      )
      expect(rows.map(({ name }) => name).toSorted()).toEqual(ACROSS.toSorted())
    },
  )

  verifies('TEN-1', 'the role that serves can neither change the schema nor the wall', async () => {
    const client = await connect(database.url)
    for (const statement of [
      'alter table tasks disable row level security',
      'drop policy own_tenant on tasks',
      'create policy more on tasks using (true)',
      'create table mine (id int)',
      'truncate tasks',
      'update ledger_segments set receipts = receipts',
      "set session authorization 'postgres'",
    ])
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
    await client.query('set row_security = off')
    await expect(client.query('select 1 from tasks')).rejects.toMatchObject({ code: '42501' })
  })
})

describe('a connection', () => {
  let rig: Rig
  beforeAll(async () => {
    const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
    rig = createRig(store)
    await rig.create()
    await store.close()
  })

  verifies('TEN-1', 'that has entered no tenant sees nothing and writes nothing', async () => {
    for (const url of [database.url, database.migrationUrl]) {
      const client = await connect(url)
      for (const table of [...TENANT_TABLES, ...TENANT_VIEWS])
        expect([table, await countOf(client, table)]).toEqual([table, 0])
      const insert = client.query(INSERT, ['somebody'])
      await expect(insert).rejects.toMatchObject({ code: '42501' })
    }
  })

  verifies('TEN-1', 'sees a tenant until the end of the transaction, however that came', async () => {
    const client = await connect(database.url)
    for (const end of ['commit', 'rollback', 'select 1 / 0'] as const) {
      await client.query('begin')
      await enter(client, rig.tenantId)
      expect(await countOf(client)).toBe(1)
      expect(await countOf(client, 'receipts')).toBe(1)
      await client.query(end).catch(() => client.query('commit'))
      expect([end, await countOf(client)]).toEqual([end, 0])
    }
  })

  verifies('TEN-1', 'cannot write for another tenant than its own', async () => {
    const client = await connect(database.url)
    await client.query('begin')
    await enter(client, 'another')
    const changed = [
      await client.query('update queued set fence = fence + 1'),
      await client.query('delete from queued'),
      await client.query('update tasks set tenant_id = $1', ['another']),
    ]
    expect(changed.map(({ rowCount }) => rowCount)).toEqual([0, 0, 0])
    await expect(client.query(INSERT, [rig.tenantId])).rejects.toMatchObject({
      code: '42501',
    })
  })

  verifies('TEN-1', 'that looks across tenants sees all of them and writes to none', async () => {
    const client = await connect(database.url)
    const look = () => client.query("select set_config('asyncgate.sees', 'every tenant', true)")
    await client.query('begin')
    await look()
    expect(await countOf(client)).toBe(1)
    const changed = [
      await client.query('update queued set fence = fence + 1'),
      await client.query('delete from queued'),
    ]
    expect(changed.map(({ rowCount }) => rowCount)).toEqual([0, 0])
    await expect(client.query(INSERT, [rig.tenantId])).rejects.toMatchObject({
      code: '42501',
    })
    await client.query('rollback')
    expect(await countOf(client)).toBe(0)
  })
})

describe('statements that have forgotten the tenant', () => {
  /** What a rig's tenant is told, by itself. */
  const view = async (rig: Rig) => [await rig.tasks(), await rig.receipts()]

  async function twoTenants(store: Store): Promise<[Rig, Rig]> {
    const rigs: [Rig, Rig] = [createRig(store), createRig(store)]
    for (const [index, rig] of rigs.entries()) await rig.create({ summary: `of ${index}` })
    return rigs
  }

  verifies('TEN-1', 'show more under a role that no policy binds: so the tests below can fail', async () => {
    const [a, b] = await twoTenants(await unfiltered(1))
    const bare = await unfiltered(1, database.adminUrl)
    const { taskId } = await a.create({ summary: 'secret' })
    expect(await bare.readTask(b.tenantId, taskId)).toMatchObject({ definition: { summary: 'secret' } })
  })

  verifies('TEN-1', 'show each tenant its own, in turns on one connection', async () => {
    const [a, b] = await twoTenants(await unfiltered(1))
    for (let turn = 0; turn < 5; turn++) {
      // Looks across tenants use the same connection.
      expect(await a.store.stats(0)).toMatchObject({ byStatus: { queued: expect.any(Number) } })
      expect(await a.store.dueLeases(0, 1)).toEqual([])
      for (const [index, rig] of [a, b].entries())
        expect(await view(rig)).toEqual([[`of ${index}`], ['task.assigned']])
    }
    const [grant] = await a.claim({ max: 10 })
    expect(grant?.task.definition.summary).toBe('of 0')
    await expect(b.ask(complete(grant!))).rejects.toMatchObject({ code: 'not_found' })
    expect(await a.ask(complete(grant!))).toMatchObject({ status: 'succeeded' })
    expect(await view(b)).toEqual([['of 1'], ['task.assigned']])
  })

  verifies('TEN-1', 'show each tenant its own after transactions that were given up', async () => {
    const store = await unfiltered(1)
    const [a, b] = await twoTenants(store)
    for (let turn = 0; turn < 3; turn++) {
      const decide = () => expect.fail('given up')
      await expect(
        store.transact({ tenantId: a.tenantId, now: 1, needs: NO_NEEDS, decide }),
      ).rejects.toThrow()
      expect(await b.claim({ types: ['nothing'] })).toEqual([])
      expect(await view(b)).toEqual([['of 1'], ['task.assigned']])
      await expect(store.listTasks({ ...EVERY_TASK, tenantId: a.tenantId, limit: -1 })).rejects.toThrow()
      expect(await view(b)).toEqual([['of 1'], ['task.assigned']])
    }
  })

  verifies('TEN-1', 'show each tenant its own when many work at once', async () => {
    const store = await unfiltered(4)
    const rigs = Array.from({ length: 8 }, () => createRig(store))
    const summaries = Array.from({ length: 10 }, (_, index) => `${index}`)
    await Promise.all(
      rigs.map(async (rig) => {
        for (const summary of summaries) {
          await rig.create({ summary })
          const [grant] = await rig.claim({ max: 5 })
          expect(grant?.task.definition.summary).toBe(summary)
          await rig.ask(complete(grant!))
        }
      }),
    )
    for (const rig of rigs) {
      expect(await rig.tasks()).toEqual(summaries.toReversed())
      expect(await rig.receipts({ receiptType: 'task.completed' })).toHaveLength(summaries.length)
    }
  })
})
