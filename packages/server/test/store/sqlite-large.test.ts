// Large commits on SQLite, which a second connection writes in a thread of its own: what may come between what is found and
// what is written. The common suite runs with large commits in sqlite.test.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Log } from '../../src/log.ts'
import type { Store } from '../../src/store/port.ts'
import { createSqliteStore, type SqliteOptions } from '../../src/store/sqlite/index.ts'
import { AGENT, complete, createRig, holding, newTask, POLICY, type Rig } from './rig.ts'

async function openLarge(options: Omit<SqliteOptions, 'path'> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-large-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path, largeFrom: 1, ...options })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  await store.migrate()
  return { path, store }
}

function openRaw(path: string): DatabaseSync {
  const raw = new DatabaseSync(path)
  onTestFinished(() => raw.close())
  return raw
}

/** The same store, and what happens between what a unit finds and what it writes, each time. */
function interrupted(store: Store, happens: () => void): Store {
  return {
    ...store,
    transact: (unit) =>
      store.transact({
        ...unit,
        decide: (snapshot) => {
          happens()
          return unit.decide(snapshot)
        },
      }),
  }
}

const CREATIONS = Array.from({ length: 200 }, () => ({ kind: 'create', task: newTask() }) as const)

test('this thread goes on while a large commit waits for another process, and decides small ones', async () => {
  const { path, store } = await openLarge({ largeFrom: 100 })
  const rig = createRig(store)
  const raw = openRaw(path)
  raw.exec('begin immediate')
  const large = rig.run(CREATIONS)
  await nextTurn()
  const decided = Promise.withResolvers<void>()
  const small = rig.create({}, interrupted(store, decided.resolve))
  await decided.promise
  expect(await rig.tasks()).toEqual([])
  raw.exec('rollback')
  await small
  expect((await large).filter(({ ok }) => ok)).toHaveLength(200)
  expect(await rig.tasks()).toHaveLength(201)
})

/** Whether others can write while it is decided. */
async function isLocked(path: string, run: (happens: () => void) => Promise<unknown>): Promise<boolean[]> {
  const raw = new DatabaseSync(path, { timeout: 0 })
  onTestFinished(() => raw.close())
  const locked: boolean[] = []
  await run(() => {
    try {
      raw.exec('begin immediate; rollback')
      locked.push(false)
    } catch {
      locked.push(true)
    }
  })
  return locked
}

const KEYED = { concurrencyKey: 'k', concurrencyLimit: 1 }

test.each<[string, (rig: Rig, on: Store) => Promise<unknown>, boolean]>([
  ['creates', (rig, on) => rig.create({ idempotencyKey: 'k' }, on), false],
  ['claims', (rig, on) => rig.claim({}, on), false],
  [
    'names a task',
    (rig, on) => rig.create({ dependsOn: ['01890000-0000-7000-8000-000000000000'] }, on).catch(() => {}),
    true,
  ],
  ['has a concurrency key', (rig, on) => rig.create(KEYED, on), true],
  ['has a capacity', (rig, on) => rig.claim({ capacity: 5 }, on), true],
])('a commit that %s is decided with the right locks', async (_name, act, isIt) => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  expect(await isLocked(path, (happens) => act(rig, interrupted(store, happens)))).toEqual([isIt])
})

test('near a quota, and where leases of a tenant are counted, others wait', async () => {
  const { path, store } = await openLarge()
  const near = createRig(store, { policy: { ...POLICY, task: { ...POLICY.task, maxActive: 4 } } })
  await near.run(CREATIONS.slice(0, 3))
  await near.create()
  const create = (happens: () => void) => near.run(CREATIONS.slice(0, 1), interrupted(store, happens))
  expect(await isLocked(path, create)).toEqual([true])
  const counted = createRig(store, {
    policy: { ...POLICY, claim: { ...POLICY.claim, maxConcurrentLeases: 5 } },
  })
  expect(await isLocked(path, (happens) => counted.claim({}, interrupted(store, happens)))).toEqual([true])
})

test('a lease that was doubted while its report waited for its turn is looked at under a lock', async () => {
  const { path, store } = await openLarge({ largeFrom: 100 })
  const rig = createRig(store)
  await rig.create()
  const [grant] = await rig.claim()
  const defect = () => {
    throw new Error('defect')
  }
  const failing = rig.run([complete(grant!)], interrupted(store, defect))
  const locked = isLocked(path, (happens) =>
    rig.run([complete(grant!), ...CREATIONS], interrupted(store, happens)),
  )
  await expect(failing).rejects.toThrow('defect')
  expect(await locked).toEqual([true])
})

test('a decision that fails lets the next one begin', async () => {
  const { store } = await openLarge()
  const rig = createRig(store)
  const defect = () => {
    throw new Error('defect')
  }
  await expect(rig.create({}, interrupted(store, defect))).rejects.toThrow('defect')
  await rig.create()
  expect(await rig.tasks()).toHaveLength(1)
})

test('whatever comes behind a large commit finds what that wrote, or what was before, and loses nothing', async () => {
  const { store } = await openLarge({ largeFrom: 100 })
  const rig = createRig(store)
  const { taskId } = await rig.create()
  const large = rig.run(CREATIONS)
  const small = rig.create()
  const canceled = rig.ask({
    kind: 'cancel',
    actor: { principal: AGENT, sees: 'all' },
    taskId,
    reason: null,
  })
  const claimed = rig.claim({ max: 1_000 })
  await Promise.all([large, small, canceled])
  const grants = [...(await claimed), ...(await rig.claim({ max: 1_000 }))]
  expect(new Set(grants.map(({ task }) => task.definition.taskId)).size).toBe(201)
  expect(grants).toHaveLength(201)
})

test.each([
  ['has a dependent', 'has_dependents = 1', { hasDependents: true }],
  ['was held meanwhile', 'fence = 7', { fence: 8 }],
])('a task that %s by the time that it is taken is taken as it is', async (_name, change, state) => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  const { taskId } = await rig.create()
  const raw = openRaw(path)
  const intruding = vi.fn(() => {
    if (intruding.mock.calls.length === 1) raw.exec(`update queued set ${change} where task_id = '${taskId}'`)
  })
  const [grant] = await rig.claim({}, interrupted(store, intruding))
  expect(grant!.task.state).toMatchObject(state)
  expect(intruding).toHaveBeenCalledTimes(2)
})

test('a task that is not ready any more when it is taken is not taken', async () => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  await rig.create()
  const raw = openRaw(path)
  const intruding = vi.fn(() => {
    if (intruding.mock.calls.length === 1) raw.exec("update queued set place = 'waiting'")
  })
  expect(await rig.claim({}, interrupted(store, intruding))).toEqual([])
  expect(intruding).toHaveBeenCalledTimes(2)
})

test('a lease that is not as remembered by the time that it is reported is looked at', async () => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  await rig.create()
  const [grant] = await rig.claim()
  const raw = openRaw(path)
  const intruding = vi.fn(() => {
    if (intruding.mock.calls.length === 1) raw.exec('update leased set renewals = renewals + 1')
  })
  await rig.ask({ kind: 'start', ...holding(grant!) }, interrupted(store, intruding))
  expect(intruding).toHaveBeenCalledTimes(2)
})

test('claims under way at once do not find the same tasks', async () => {
  const { store } = await openLarge()
  const rig = createRig(store)
  await rig.run(CREATIONS.slice(0, 20))
  const decided = vi.fn()
  const on = interrupted(store, decided)
  const claims = await Promise.all([rig.claim({ max: 10 }, on), rig.claim({ max: 10 }, on)])
  expect(new Set(claims.flat().map(({ task }) => task.definition.taskId)).size).toBe(20)
  expect(decided).toHaveBeenCalledTimes(2)
})

test('creations with one key under way at once make one task', async () => {
  const { store } = await openLarge()
  const rig = createRig(store)
  const decided = vi.fn()
  const on = interrupted(store, decided)
  const [first, second] = await Promise.all([
    rig.create({ idempotencyKey: 'once' }, on),
    rig.create({ idempotencyKey: 'once' }, on),
  ])
  expect(second.taskId).toBe(first.taskId)
  expect(await rig.tasks()).toHaveLength(1)
  expect(decided).toHaveBeenCalledTimes(3)
})

test('creations under way at once do not exceed a quota together', async () => {
  const { store } = await openLarge()
  const rig = createRig(store, { policy: { ...POLICY, task: { ...POLICY.task, maxActive: 10 } } })
  const decided = vi.fn()
  const on = interrupted(store, decided)
  const runs = [rig.run(CREATIONS.slice(0, 8), on), rig.run(CREATIONS.slice(0, 8), on)]
  const results = (await Promise.all(runs)).flat()
  expect(results.filter(({ ok }) => ok)).toHaveLength(10)
  expect(await rig.tasks()).toHaveLength(10)
  expect(decided).toHaveBeenCalledTimes(3)
})

/** In a process of its own, which has the store: that it has begun to print, and what it printed when it has ended. */
function runApart(code: string, { path, nodeOptions = '' }: { path: string; nodeOptions?: string }) {
  const url = (file: string) => JSON.stringify(new URL(file, import.meta.url))
  const whole = `
    const { createSqliteStore } = await import(${url('../../src/store/sqlite/index.ts')})
    const { complete, createRig } = await import(${url('rig.ts')})
    const store = await createSqliteStore({ path: ${JSON.stringify(path)}, largeFrom: 1 })
    ${code}
    await store.close()`
  const env = { ...process.env, NODE_OPTIONS: nodeOptions }
  const child = spawn(process.execPath, ['--input-type=module', '-e', whole], { env })
  onTestFinished(() => void child.kill())
  const said = text(child.stdout)
  return { begun: once(child.stdout, 'data'), lines: said.then((all) => all.trim().split('\n')) }
}

test('two processes on one file give each task to one worker', async () => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  for (let at = 0; at < 5; at += 1) await rig.run(CREATIONS)
  const { begun, lines } = runApart(
    `
    const rig = createRig(store, { tenantId: ${JSON.stringify(rig.tenantId)}, seed: 2 })
    for (;;) {
      const grants = await rig.claim({ max: 10 })
      if (grants.length === 0) break
      await rig.run(grants.map(complete))
      for (const { task } of grants) console.log(task.definition.taskId)
    }`,
    { path },
  )
  await begun
  const here: string[] = []
  for (;;) {
    const grants = await rig.claim({ max: 10 })
    if (grants.length === 0) break
    await rig.run(grants.map(complete))
    here.push(...grants.map(({ task }) => task.definition.taskId))
  }
  const there = await lines
  expect(here.length).toBeGreaterThan(0)
  expect(new Set([...here, ...there]).size).toBe(1_000)
  expect(here.length + there.length).toBe(1_000)
  expect(await rig.receipts({ receiptType: 'task.completed' })).toHaveLength(1_000)
})

test('a file that was moved away goes on being used, by the first connection alone', async () => {
  const warn = vi.fn()
  const log = { warn } as unknown as Log // all that is used of it
  const { path, store } = await openLarge({ log })
  const rig = createRig(store)
  await rename(path, `${path}.away`)
  await writeFile(path, 'no database')
  await rig.run(CREATIONS)
  expect(warn).toHaveBeenCalledWith(
    { error: expect.objectContaining({ message: expect.stringContaining('is not the file any more') }) },
    expect.stringContaining('large commits'),
  )
  await rig.run(CREATIONS)
  expect(warn).toHaveBeenCalledTimes(1)
  expect(await rig.tasks()).toHaveLength(400)
  expect(await readFile(path, 'utf8')).toBe('no database')
  await rename(`${path}.away`, path)
})

test('when the thread ends without a word, whoever waits hears that nobody knows, and the rest goes on', async () => {
  const { path } = await openLarge()
  const leaves = "import { isMainThread } from 'node:worker_threads'; if (!isMainThread) process.exit(0)"
  const { lines } = runApart(
    `
    const rig = createRig(store)
    console.log(await rig.create().catch((error) => error.code))
    await rig.create()
    console.log((await rig.tasks()).length)`,
    { path, nodeOptions: `--import=data:text/javascript,${encodeURIComponent(leaves)}` },
  )
  expect(await lines).toEqual(['database_unavailable', '1'])
})

test('whoever must begin again when the store has been closed hears so', async () => {
  const { store } = await openLarge()
  const rig = createRig(store)
  const created = [rig.create({ idempotencyKey: 'once' }), rig.create({ idempotencyKey: 'once' })]
  const settled = Promise.allSettled(created)
  await store.close()
  expect(await settled).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'database_unavailable' } },
  ])
})

test('whoever begins when the store is about to close, or has been closed, writes nothing any more', async () => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  await rig.create()
  const closed = store.close()
  const late: Promise<unknown>[] = []
  for (let at = 0; at < 20; at += 1) {
    late.push(rig.create())
    await Promise.resolve()
  }
  const settled = await Promise.allSettled(late)
  await closed
  const made = settled.filter(({ status }) => status === 'fulfilled').length
  expect(made).toBeLessThan(20)
  await expect(rig.create()).rejects.toMatchObject({ code: 'database_unavailable' })
  const raw = openRaw(path)
  expect(raw.prepare('select count(*) as total from tasks').get()).toEqual({ total: 1 + made })
})

test('a store that is closed meanwhile has written what it was given', async () => {
  const { path, store } = await openLarge()
  const rig = createRig(store)
  const created = rig.run(CREATIONS)
  await store.close()
  await created
  const raw = openRaw(path)
  expect(raw.prepare('select count(*) as total from tasks').get()).toEqual({ total: 200 })
})
