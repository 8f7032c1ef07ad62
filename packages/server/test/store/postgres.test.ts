// The PostgreSQL store: the common suite with two instances, with and without prepared statements, and what
// only a server can show.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Hint } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { NO_CHANGES, NO_NEEDS } from '../no-changes.ts'
import { createOwnedDatabase, createRoles, type RoleUrls } from '../postgres-roles.ts'
import { startPostgres } from '../postgres-server.ts'
import { storeConformance } from './conformance.ts'
import { NONE } from './plan-cases.ts'
import { AGENT, complete, createRig } from './rig.ts'
import { MIGRATIONS } from '../../src/store/postgres/migrations/index.ts'

const ALL = MIGRATIONS.map(({ name }) => name)
/** Nothing that is waited for takes long; a busy machine may. */
const PATIENCE = { timeout: 20_000, interval: 20 }

const connect = (roles: RoleUrls, preparedStatements = true) =>
  createPostgresStore({ ...roles, poolSize: 4, preparedStatements })

for (const prepared of [true, false]) {
  storeConformance(`postgres, ${prepared ? 'prepared' : 'unprepared'} statements`, async () => {
    const database = await createDatabase()
    const [store, beside] = await Promise.all([connect(database, prepared), connect(database, prepared)])
    await Promise.all([store.migrate(), beside.migrate()])
    return {
      store,
      beside,
      close: async () => {
        await Promise.all([store.close(), beside.close()])
        await database.drop()
      },
    }
  })
}

describe('postgres', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase()
  })
  afterAll(() => database.drop())

  test('instances that migrate at once run each migration once', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => connect(database)))
    expect(await stores[0]!.pendingMigrations()).toEqual(ALL)
    const run = await Promise.all(stores.map((store) => store.migrate()))
    expect(run.flat()).toEqual(ALL)
    expect(await stores[1]!.pendingMigrations()).toEqual([])
    await Promise.all(stores.map((store) => store.close()))
  })

  test('a change that cannot even be sent keeps the others of its commit from being made', async () => {
    const store = await connect(database)
    await store.migrate()
    const { tenantId } = createRig(store)
    const seen = { principal: AGENT, instanceId: null, at: 1 }
    const report = { taskId: NONE, workerId: 'w', fence: 1, reportedAt: 1 }
    const unsayable = { toJSON: () => expect.fail('too long for a string') }
    const changes = { ...NO_CHANGES, sightings: [seen], progress: [{ ...report, progress: unsayable }] }
    const unit = { tenantId, now: 1, needs: NO_NEEDS, decide: () => ({ changes, result: null }) }
    await expect(store.transact(unit)).rejects.toThrow()
    expect(await store.readRelationship(tenantId, AGENT)).toBeNull()
    await store.close()
  })

  test('a unit that fails at once leaves no transaction open on its connection', async () => {
    const store = await connect(database)
    await store.migrate()
    const { tenantId } = createRig(store)
    const unit = { tenantId, now: 1, needs: NO_NEEDS, decide: () => expect.fail('a defect') }
    await expect(store.transact(unit)).rejects.toThrow('a defect')
    const raw = new Client({ connectionString: database.adminUrl })
    await raw.connect()
    const open = await raw.query(
      "select query from pg_stat_activity where datname = current_database() and state like 'idle in %'",
    )
    expect(open.rows).toEqual([])
    await raw.end()
    await store.close()
  })

  test('the database itself refuses to change, delete or truncate receipts', async () => {
    const store = await connect(database)
    await store.migrate()
    await createRig(store).create()
    const raw = new Client({ connectionString: database.adminUrl })
    await raw.connect()
    await expect(raw.query("update ledger_segments set receipts = '[]'")).rejects.toThrow(/append-only/)
    await expect(raw.query('delete from ledger_segments')).rejects.toThrow(/append-only/)
    await expect(raw.query('truncate ledger_segments')).rejects.toThrow(/append-only/)
    await raw.end()
    await store.close()
  })

  test('a renewal touches no index', async () => {
    const store = await connect(database)
    await store.migrate()
    const rig = createRig(store)
    await rig.create()
    const [grant] = await rig.claim()
    const { worker, taskId, leaseId } = grant!.lease
    const raw = new Client({ connectionString: database.adminUrl })
    await raw.connect()
    const updates = async () => {
      await raw.query('select pg_stat_force_next_flush()')
      const sql =
        "select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = 'leased'"
      return (await raw.query<{ all: number; hot: number }>(sql)).rows[0]!
    }
    const renewals = 20
    for (let count = 0; count < renewals; count++) {
      await rig.ask({ kind: 'renew', worker, taskId, leaseId, extendBySeconds: 600 + count })
    }
    // The service's connections report their figures when the database ends them, which is soon after they close.
    await store.close()
    await vi.waitFor(async () => expect((await updates()).all).toBeGreaterThanOrEqual(renewals), PATIENCE)
    const after = await updates()
    expect(after.hot).toBe(after.all)
    await raw.end()
  })

  test('a hint reaches other instances, those that follow it soon merged, and not the one that sent it', async () => {
    const [sender, receiver] = await Promise.all([connect(database), connect(database)])
    const own: Hint[] = []
    sender.onHint((hint) => own.push(hint))
    const received: Hint[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    receiver.onHint((hint) => received.push(hint) === 2 && resolve())
    // Listening begins in the background; a hint sent before is lost, as hints may be.
    const sending = setInterval(() => {
      sender.hint({ tenantId: 'first', ready: true, delayed: false, ended: false })
      sender.hint({ tenantId: 'the tenant', ready: true, delayed: false, ended: false })
      sender.hint({ tenantId: 'the tenant', ready: false, delayed: true, ended: true })
    }, 100)
    await promise
    clearInterval(sending)
    expect(received).toContainEqual({ tenantId: 'first', ready: true, delayed: false, ended: false })
    expect(received).toContainEqual({ tenantId: 'the tenant', ready: true, delayed: true, ended: true })
    expect(own).toEqual([])
    await Promise.all([sender.close(), receiver.close()])
  })

  test('durability follows the server’s settings', async () => {
    const store = await connect(database)
    const { level, detail } = await store.durability()
    // The tests' server does without fsync.
    expect({ level, detail }).toEqual({ level: 'reduced', detail: expect.stringContaining('fsync=off') })
    await store.close()
  })

  test('a connection that is cut in the middle of a unit is answered, and service goes on', async () => {
    const store = await connect(database)
    await store.migrate()
    const rig = createRig(store)
    const raw = new Client({ connectionString: database.adminUrl })
    await raw.connect()
    for (let round = 0; round < 5; round++) {
      const units = Array.from({ length: 8 }, () => rig.create())
      const cut = raw.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'asyncgate' and datname = current_database()",
      )
      const answers = await Promise.allSettled([...units, cut])
      for (const answer of answers.filter(({ status }) => status === 'rejected')) {
        expect(answer).toMatchObject({
          reason: { code: 'database_unavailable', details: { retry_after: expect.any(Number) } },
        })
      }
      await answeredSoon(() => rig.create())
    }
    const [grant] = await rig.claim({ max: 1 })
    expect(await rig.ask(complete(grant!))).toMatchObject({ status: 'succeeded' })
    expect(await store.findDoubtfulObligations(10)).toEqual([])
    await raw.end()
    await store.close()
  })

  test('without its server a store opens, answers database_unavailable, and serves again when it is back', async () => {
    const server = await startPostgres()
    await createRoles(server.url)
    const roles = await createOwnedDatabase(server.url, 'gate')
    const store = await connect(roles)
    await store.migrate()
    const rig = createRig(store)
    await rig.create()
    await server.stop('immediate')
    const late = await connect(roles)
    const unavailable = { code: 'database_unavailable', retryable: true }
    await expect(rig.create()).rejects.toMatchObject(unavailable)
    await expect(store.ping()).rejects.toMatchObject(unavailable)
    await expect(late.readTask('t', '019b76da-0000-7000-8000-000000000001')).rejects.toMatchObject(
      unavailable,
    )
    await expect(late.pendingMigrations()).rejects.toMatchObject(unavailable)
    await server.restart()
    await rig.create()
    await late.ping()
    expect(await rig.tasks()).toHaveLength(2)
    await Promise.all([store.close(), late.close()])
    await server.remove()
  })
})

/** A pooled connection that was cut is noticed when it is next used, which is refused: at most once for each. */
async function answeredSoon<T>(ask: () => Promise<T>): Promise<T> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await ask()
    } catch (error) {
      if (refusals >= 20) throw error
    }
  }
}
