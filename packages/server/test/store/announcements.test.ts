// What is announced before it is committed: a claim on another instance that has heard of it waits for it, and nothing else
// does.
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Hint, Store } from '../../src/store/port.ts'
import { createAnnouncements } from '../../src/store/postgres/announcements.ts'
import { createPostgresDriver, createPostgresStore } from '../../src/store/postgres/index.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { createRig, type Rig } from './rig.ts'

/** Far longer than it takes a newcomer to know that it is alone. */
const PATIENCE = { timeout: 20_000, interval: 5 }

let database: TestDatabase
let creating: Instance
let claiming: Instance
let rig: Rig
let holder: Client
let watcher: Client
let heard: string[]

interface Instance {
  readonly store: Store
  readonly hints: Hint[]
}

beforeEach(async () => {
  database = await createMigratedDatabase()
  holder = new Client({ connectionString: database.adminUrl })
  watcher = new Client({ connectionString: database.adminUrl })
  await Promise.all([holder.connect(), watcher.connect()])
  heard = []
  watcher.on('notification', ({ payload = '' }) => heard.push(payload))
  await watcher.query('listen asyncgate')
  creating = await startInstance()
  rig = createRig(creating.store)
})
afterEach(async () => {
  await Promise.all([creating.store.close(), claiming?.store.close(), holder.end(), watcher.end()])
  await database.drop()
})

/** Without prepared statements nothing is set on a connection: nobody gives up waiting for a lock. */
async function startInstance(): Promise<Instance> {
  const store = await createPostgresStore({ ...database, poolSize: 8, preparedStatements: false })
  const hints: Hint[] = []
  store.onHint((hint) => hints.push(hint))
  return { store, hints }
}

/** Says nothing but what it must: where a hint has just gone, nothing is announced. */
async function startOther(): Promise<void> {
  claiming = await startInstance()
  await until(() => expect(heard.filter((message) => message === 'hello')).toHaveLength(2))
}

const until = (look: () => unknown) => vi.waitFor(look, PATIENCE)

/** Commits of the rig's tenant stop here, with everything but the ledger written, until `let go`. */
async function holdLedger() {
  await holder.query('begin')
  await holder.query("select pg_advisory_xact_lock(hashtextextended($1::text || ' ledger', 0))", [
    rig.tenantId,
  ])
  return { letGo: () => holder.query('commit') }
}

async function waitingQueries(): Promise<string[]> {
  const { rows } = await watcher.query<{ query: string }>(`
    select a.query from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`)
  return rows.map(({ query }) => query)
}

/** A creation that has been announced and is not committed, and a claim elsewhere that has heard of it. */
async function meet() {
  await startOther()
  const ledger = await holdLedger()
  const created = rig.create()
  created.catch(() => {}) // awaited by whoever wants to know
  await untilHeard()
  const claimed = rig.claim({}, claiming.store)
  await until(async () => expect(await waitingQueries()).toContainEqual(expect.stringContaining('_shared')))
  return { ledger, created, claimed }
}

const untilHeard = () =>
  until(() =>
    expect(claiming.hints).toEqual([{ tenantId: rig.tenantId, ready: true, delayed: false, ended: false }]),
  )

test('a claim that has heard of a creation before its commit is given the task', async () => {
  const { ledger, created, claimed } = await meet()
  await ledger.letGo()
  const { taskId } = await created
  expect((await claimed).map(({ lease }) => lease.taskId)).toEqual([taskId])
})

test('a claim that has heard of what is never committed is given nothing, and waits no longer', async () => {
  const { ledger, created, claimed } = await meet()
  await watcher.query(`
    select pg_terminate_backend(a.pid) from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database() and a.query not like '%_shared%'`)
  expect(await claimed).toEqual([])
  await expect(created).rejects.toMatchObject({ code: 'database_unavailable' })
  await ledger.letGo()
})

test('what has been waited for once is not waited for again', async () => {
  const { ledger, created, claimed } = await meet()
  expect(await rig.claim({}, claiming.store)).toEqual([])
  await ledger.letGo()
  await Promise.all([created, claimed])
})

test('only claims of the tenant wait', async () => {
  await startOther()
  const ledger = await holdLedger()
  const created = rig.create()
  await untilHeard()
  const other = createRig(claiming.store)
  const { taskId } = await other.create()
  expect((await other.claim()).map(({ lease }) => lease.taskId)).toEqual([taskId])
  await ledger.letGo()
  await created
})

test('what makes nothing ready is not announced, nor anything by an instance that is alone', async () => {
  await until(() => expect(heard).toContain('hello'))
  await rig.create({ delaySeconds: 60 })
  await until(() => expect(creating.store.isAlone()).toBe(true))
  // Each some milliseconds after the last: not all of them within the pause that an announcement makes.
  for (let count = 0; count < 20; count += 1) await rig.create()
  await watcher.query("notify asyncgate, 'the end'")
  await until(() => expect(heard).toContain('the end'))
  expect(heard.filter((message) => message.startsWith('soon'))).toEqual([])
})

test('whoever announces does not wait for those who were told and came first', async () => {
  const driver = createPostgresDriver({ ...database, poolSize: 4, preparedStatements: true })
  const { announce, awaitAnnounced } = createAnnouncements({ announce: () => 7, takeAnnounced: () => 7 })
  const [claims, creates] = await Promise.all([driver.begin(rig.tenantId), driver.begin(rig.tenantId)])
  await awaitAnnounced(claims, rig.tenantId)
  await creates.commit(announce(creates, rig.tenantId))
  await claims.commit(Promise.resolve())
  await driver.close()
})
