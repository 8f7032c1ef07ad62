// What is announced before it is committed: claims on another instance that has heard of it wait for it, but not for long, and
// nothing else does.
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Hint, Store } from '../../src/store/port.ts'
import { createAnnouncements } from '../../src/store/postgres/announcements.ts'
import { createPostgresDriver, createPostgresStore } from '../../src/store/postgres/index.ts'
import { type Driver, query } from '../../src/store/sql/session.ts'
import { createSqlStore } from '../../src/store/sql/store.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { AGENT, claimCommand, createRig, newTask, type Rig } from './rig.ts'

const NUMBER = 7
const LONG_MS = 60_000

let database: TestDatabase
let drivers: Driver[]
let holder: Client
let watcher: Client
let creating: Store
let rig: Rig
/** The tenant of what was announced last, until somebody has taken it. */
let announced: string | null

beforeEach(async () => {
  database = await createMigratedDatabase()
  holder = new Client({ connectionString: database.adminUrl })
  watcher = new Client({ connectionString: database.adminUrl })
  await Promise.all([holder.connect(), watcher.connect()])
  drivers = []
  announced = null
  creating = createSqlStore(startInstance())
  rig = createRig(creating)
})
afterEach(async () => {
  await Promise.all([...drivers.map((driver) => driver.close()), holder.end(), watcher.end()])
  await database.drop()
})

/** Each hears the others at once. Without prepared statements, nothing but our patience bounds a wait. */
function startInstance({ patienceMs = LONG_MS, isTalkative = false } = {}): Driver {
  const announcing = createAnnouncements(
    {
      announce: (tenantId) => {
        announced = tenantId
        return NUMBER
      },
      takeAnnounced: (tenantId) => {
        if (announced !== tenantId) return null
        if (!isTalkative) announced = null
        return NUMBER
      },
    },
    { patienceMs },
  )
  const driver = {
    ...createPostgresDriver({ ...database, poolSize: 8, preparedStatements: false }),
    ...announcing,
  }
  drivers.push(driver)
  return driver
}

const until = (look: () => unknown) => vi.waitFor(look, { timeout: 20_000, interval: 5 })

/** Who waits for a lock, and the statement that does. */
async function whoWaits(): Promise<{ pid: number; query: string }[]> {
  const { rows } = await watcher.query<{ pid: number; query: string }>(`
    select a.pid, a.query from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`)
  return rows
}

async function untilWaiting(part: string): Promise<number> {
  let pid = 0
  await until(async () => {
    const found = (await whoWaits()).find(({ query: text }) => text.includes(part))
    expect(found).toBeDefined()
    pid = found!.pid
  })
  return pid
}

/** A creation that has been announced and stops with everything but the ledger written, until the holder lets go. */
async function createSlowly({ isHeard = true } = {}) {
  await holder.query('begin')
  await holder.query("select pg_advisory_xact_lock(hashtextextended($1::text || ' ledger', 0))", [
    rig.tenantId,
  ])
  const created = rig.create()
  created.catch(() => {}) // awaited by whoever wants to know
  const pid = await untilWaiting(' ledger')
  if (isHeard) expect(announced).toBe(rig.tenantId)
  return { created, pid }
}

const letGo = () => holder.query('commit')

test('a claim that has heard of a creation before its commit is given the task', async () => {
  const { created } = await createSlowly()
  const claimed = rig.claim({}, createSqlStore(startInstance()))
  await untilWaiting('_shared')
  await letGo()
  const { taskId } = await created
  expect((await claimed).map(({ lease }) => lease.taskId)).toEqual([taskId])
})

test('a claim that has heard of what is never committed is given nothing, and waits no longer', async () => {
  const { created, pid } = await createSlowly()
  const claimed = rig.claim({}, createSqlStore(startInstance()))
  await untilWaiting('_shared')
  await watcher.query('select pg_terminate_backend($1)', [pid])
  expect(await claimed).toEqual([])
  await expect(created).rejects.toMatchObject({ code: 'database_unavailable' })
  await letGo()
})

test('whoever waits holds nothing that others could wait for', async () => {
  await createSlowly()
  const claimed = rig.claim({ capacity: 5 }, createSqlStore(startInstance()))
  const pid = await untilWaiting('_shared')
  const { rows } = await watcher.query(
    "select locktype from pg_locks where pid = $1 and granted and locktype not in ('virtualxid', 'relation')",
    [pid],
  )
  expect(rows).toEqual([])
  await letGo()
  expect(await claimed).toHaveLength(1)
})

test('a commit that takes long is not waited for: the claim begins anew', async () => {
  const { created } = await createSlowly()
  const claiming = createSqlStore(startInstance({ patienceMs: 1 }))
  expect(await rig.claim({}, claiming)).toEqual([])
  const talkative = createSqlStore(startInstance({ patienceMs: 1, isTalkative: true }))
  announced = rig.tenantId
  expect(await rig.claim({}, talkative)).toEqual([])
  announced = null
  await letGo()
  const { taskId } = await created
  expect((await rig.claim({}, claiming)).map(({ lease }) => lease.taskId)).toEqual([taskId])
})

test('only claims wait that nothing goes with, of the tenant that was named, and once', async () => {
  await createSlowly()
  const claiming = createSqlStore(startInstance())
  const other = createRig(claiming)
  const { taskId } = await other.create({ delaySeconds: 60 })
  expect(await other.claim()).toEqual([])
  expect((await claiming.readTask(other.tenantId, taskId))?.state.place).toBe('delayed')
  expect(announced).toBe(rig.tenantId)
  await rig.ask({ kind: 'greet', principal: AGENT, instanceId: null }, claiming)
  expect(announced).toBe(rig.tenantId)
  // What goes with a claim would wait for it.
  await rig.run([claimCommand(), { kind: 'greet', principal: AGENT, instanceId: null }], claiming)
  expect(announced).toBe(rig.tenantId)
  const first = rig.claim({}, claiming)
  await untilWaiting('_shared')
  expect(await rig.claim({}, claiming)).toEqual([])
  await letGo()
  expect(await first).toHaveLength(1)
})

test('neither what makes nothing ready is announced, nor a large commit', async () => {
  await rig.create({ delaySeconds: 60 })
  expect(announced).toBeNull()
  await rig.run(Array.from({ length: 21 }, () => ({ kind: 'create', task: newTask() })))
  expect(announced).toBeNull()
  await rig.run(Array.from({ length: 20 }, () => ({ kind: 'create', task: newTask() })))
  expect(announced).toBe(rig.tenantId)
})

test('whoever announces does not wait for those who were told and came first', async () => {
  const driver = startInstance()
  const [claims, creates] = await Promise.all([driver.begin(rig.tenantId), driver.begin(rig.tenantId)])
  announced = rig.tenantId
  await driver.awaitAnnounced(claims, rig.tenantId)
  await creates.commit(driver.announce(creates, rig.tenantId))
  await claims.commit(Promise.resolve())
})

test('what waits afterwards in the same transaction has the patience that it had', async () => {
  const setting = query('lock_timeout', () => "select current_setting('lock_timeout') as value")
  const driver = startInstance()
  const tx = await driver.begin(rig.tenantId)
  const before = await tx.all(setting, [])
  announced = rig.tenantId
  await driver.awaitAnnounced(tx, rig.tenantId)
  expect(await tx.all(setting, [])).toEqual(before)
  await tx.commit(Promise.resolve())
})

test('a store announces what it creates, and another that has heard of it waits in its claims', async () => {
  const open = () => createPostgresStore({ ...database, poolSize: 4, preparedStatements: true })
  const [one, other] = [await open(), await open()]
  const heard: string[] = []
  watcher.on('notification', ({ payload = '' }) => heard.push(payload))
  await watcher.query('listen asyncgate')
  const hints: Hint[] = []
  one.onHint(() => {})
  other.onHint((hint) => hints.push(hint))
  await until(() => expect(heard.filter((message) => message === 'here')).not.toEqual([]))
  rig = createRig(one)
  const { created } = await createSlowly({ isHeard: false })
  await until(() => expect(hints).toMatchObject([{ tenantId: rig.tenantId, ready: true }]))
  const before = await rollbacks()
  expect(await rig.claim({}, other)).toEqual([])
  await letGo()
  await Promise.all([created, one.close(), other.close()])
  // By which it is seen that it has waited: it gave up.
  await until(async () => expect(await rollbacks()).toBeGreaterThan(before))
})

async function rollbacks(): Promise<number> {
  const { rows } = await watcher.query<{ n: number }>(
    'select xact_rollback::int as n from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.n
}
