// The SQLite store: the common suite, and what only a file can show.
import { type FileHandle, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Log } from '../../src/log.ts'
import { createSqliteStore, type SqliteOptions } from '../../src/store/sqlite/index.ts'
import { storeConformance } from './conformance.ts'
import { createRig, type Rig } from './rig.ts'
import { MIGRATIONS } from '../../src/store/sqlite/migrations/index.ts'

const ALL = MIGRATIONS.map(({ name }) => name)

storeConformance('sqlite', () => openFresh())
storeConformance('sqlite, all commits large', () => openFresh({ largeFrom: 1 }))

async function openFresh(options: Omit<SqliteOptions, 'path'> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-store-'))
  const store = await createSqliteStore({ path: join(folder, 'gate.db'), ...options })
  await store.migrate()
  return {
    store,
    beside: store,
    close: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** From now on whoever flushes waits until they are released; then it is done, as ever. */
async function holdFlushes(path: string) {
  const file = await open(path)
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const gate = Promise.withResolvers<void>()
  const flush = prototype.datasync
  let count = 0
  const spy = vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: FileHandle) {
    count += 1
    await gate.promise
    await flush.call(this)
  })
  const release = () => {
    spy.mockRestore()
    gate.resolve()
  }
  onTestFinished(release)
  return { held: () => count, release, fail: () => gate.reject(new Error('the disk is gone')) }
}

function watch<T>(promise: Promise<T>) {
  const watched = { done: false, promise }
  void promise.then(() => (watched.done = true))
  return watched
}

async function turnsUntil(is: () => boolean): Promise<void> {
  while (!is()) await nextTurn()
}

const LONG = { text: 'x'.repeat(20_000) }

/** Creates tasks until the log was begun anew so many times, and says which. */
async function createUntilAnew(rig: Rig, path: string, times: number): Promise<string[]> {
  const raw = new DatabaseSync(path)
  const counted = raw.prepare('pragma wal_checkpoint(noop)')
  const pages = () => Number(counted.get()!['log'])
  const made: string[] = []
  for (let anew = 0, before = pages(); anew < times; before = pages()) {
    const tasks = await Promise.all([rig.create({ payload: LONG }), rig.create({ payload: LONG })])
    made.push(...tasks.map(({ taskId }) => taskId))
    if (pages() < before) anew += 1
  }
  raw.close()
  return made
}

describe.each([
  ['small', {}],
  ['large', { largeFrom: 1 }],
])('sqlite, all commits %s', (_size, size) => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'asyncgate-store-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('the database itself refuses to change or delete a receipt', async () => {
    const path = join(folder, 'receipts.db')
    const store = await createSqliteStore({ path, ...size })
    await store.migrate()
    await createRig(store).create()
    const raw = new DatabaseSync(path)
    expect(() => raw.exec("update ledger_segments set receipts = '[]'")).toThrow(/append-only/)
    expect(() => raw.exec('delete from ledger_segments')).toThrow(/append-only/)
    raw.close()
    await store.close()
  })

  test('what was committed is there after the store was closed, with nothing left to migrate', async () => {
    const path = join(folder, 'again.db')
    const first = await createSqliteStore({ path, ...size })
    expect(await first.pendingMigrations()).toEqual(ALL)
    expect(await first.migrate()).toEqual(ALL)
    const rig = createRig(first)
    const { taskId } = await rig.create()
    await first.close()
    const second = await createSqliteStore({ path, ...size })
    expect(await second.pendingMigrations()).toEqual([])
    expect((await second.readTask(rig.tenantId, taskId))?.definition.taskId).toBe(taskId)
    await second.close()
  })

  test('nobody is answered before the log is on the disk, in another process neither', async () => {
    const path = join(folder, 'durable.db')
    const store = await createSqliteStore({ path, ...size })
    await store.migrate()
    expect(await store.durability()).toMatchObject({ level: 'full' })
    const beside = await createSqliteStore({ path, ...size })
    await beside.ping()
    const rig = createRig(store)
    const { held, release } = await holdFlushes(path)
    const created = watch(rig.create({ idempotencyKey: 'once' }))
    const repeated = watch(rig.create({ idempotencyKey: 'once' }))
    await turnsUntil(() => held() > 0)
    const listed = watch(rig.tasks())
    const seen = watch(createRig(beside, { tenantId: rig.tenantId }).tasks())
    await turnsUntil(() => held() > 1) // of each instance
    for (let turns = 0; turns < 20; turns += 1) await nextTurn()
    expect([created.done, repeated.done, listed.done, seen.done]).toEqual([false, false, false, false])
    release()
    expect(await listed.promise).toHaveLength(1)
    expect(await seen.promise).toHaveLength(1)
    expect((await created.promise).taskId).toBe((await repeated.promise).taskId)
    const raw = new DatabaseSync(path, { readOnly: true })
    expect(raw.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
    raw.close()
    await store.close()
    await beside.close()
  })

  test('once the log could not be flushed, nothing more is written', async () => {
    const path = join(folder, 'broken.db')
    const store = await createSqliteStore({ path, ...size })
    await store.migrate()
    const rig = createRig(store)
    await rig.create()
    const { held, fail } = await holdFlushes(path)
    const created = rig.create()
    await turnsUntil(() => held() > 0)
    fail()
    await expect(created).rejects.toMatchObject({ code: 'database_unavailable' })
    await expect(rig.create()).rejects.toMatchObject({ code: 'database_unavailable' })
    const raw = new DatabaseSync(path)
    expect(raw.prepare('select count(*) as total from tasks').get()).toEqual({ total: 2 })
    raw.close()
    await store.close()
  })

  test('a writer that another process keeps waiting too long answers that the database is not available', async () => {
    const path = join(folder, 'busy.db')
    const store = await createSqliteStore({ path, busyTimeoutMs: 10, ...size })
    await store.migrate()
    const raw = new DatabaseSync(path)
    raw.exec('begin immediate')
    const rig = createRig(store)
    await expect(rig.create()).rejects.toMatchObject({ code: 'database_unavailable', retryable: true })
    raw.exec('rollback')
    raw.close()
    await rig.create()
    await store.close()
  })

  test('a log that is written to all the time is written back by the thread, and begun anew', async () => {
    const path = join(folder, 'log.db')
    const store = await createSqliteStore({ path, logPagesMax: 40, ...size })
    await store.migrate()
    const rig = createRig(store)
    const made = await createUntilAnew(rig, path, 3)
    await store.close()
    expect(await readdir(folder)).not.toContain('log.db-wal')

    const again = await createSqliteStore({ path, ...size })
    const found = await Promise.all(made.map((taskId) => again.readTask(rig.tenantId, taskId)))
    expect(found.map((task) => task?.definition.taskId)).toEqual(made)
    await again.close()
  })

  test('a file that was moved away goes on being used, and commits write the log back once it is there again', async () => {
    const path = join(folder, 'moved.db')
    const warn = vi.fn()
    const log = { warn } as unknown as Log // all that is used of it
    const store = await createSqliteStore({ path, logPagesMax: 300, log, ...size })
    await store.migrate()
    const rig = createRig(store)
    await rig.create() // the thread for large commits has its file open, that for the log has not
    await rename(path, `${path}.away`)
    await writeFile(path, 'no database')
    while (warn.mock.calls.length === 0) await rig.create({ payload: LONG })
    expect(warn).toHaveBeenCalledWith(
      { error: expect.objectContaining({ message: expect.stringContaining('is not the file any more') }) },
      expect.stringContaining('written back in commits'),
    )
    expect(await readFile(path, 'utf8')).toBe('no database')

    await rename(`${path}.away`, path)
    await createUntilAnew(rig, path, 3)
    await store.close()
    expect(warn).toHaveBeenCalledTimes(1)
  })

  test('a folder that is not there is told as a database that is not available', async () => {
    await expect(createSqliteStore({ path: join(folder, 'no', 'such', 'folder.db') })).rejects.toMatchObject({
      code: 'database_unavailable',
    })
  })
})
