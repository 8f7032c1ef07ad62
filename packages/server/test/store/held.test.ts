// What a process remembers of the leases that it granted: it decides by it without a look, and what others have changed
// meanwhile makes it look.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { createDatabase } from '../database.ts'
import { AGENT, complete, createRig, fail, holding, newTask, type Rig } from './rig.ts'

interface Ground {
  /** Where it is a database server. */
  readonly adminUrl?: string
  open(): Promise<Store>
  clear(): Promise<void>
}

const GROUNDS: Record<string, () => Promise<Ground>> = {
  postgres: async () => {
    const database = await createDatabase()
    const open = () => createPostgresStore({ ...database, poolSize: 4, preparedStatements: true })
    return { adminUrl: database.adminUrl, open, clear: database.drop }
  },
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'asyncgate-held-'))
    const open = () => createSqliteStore({ path: join(folder, 'gate.db') })
    return { open, clear: () => rm(folder, { recursive: true }) }
  },
}

const start = (grant: Grant): Command => ({ kind: 'start', ...holding(grant) })
const renew = (grant: Grant): Command => ({ kind: 'renew', extendBySeconds: null, ...holding(grant) })
const release = (grant: Grant): Command => ({ kind: 'release', reason: null, ...holding(grant) })
const expire = ({ lease: { taskId, leaseId } }: Grant): Command => ({ kind: 'expire', taskId, leaseId })
const cancel = ({ lease: { taskId } }: Grant): Command => ({
  kind: 'cancel',
  actor: { principal: AGENT, sees: 'all' },
  taskId,
  reason: null,
})

/** How often it was decided: once, if what was remembered was right. */
async function decisions(rig: Rig, commands: readonly Command[]) {
  let count = 0
  const { store } = rig
  const counting: Store = {
    ...store,
    transact: (unit) =>
      store.transact({
        ...unit,
        decide: (snapshot) => {
          count += 1
          return unit.decide(snapshot)
        },
      }),
  }
  const results = await rig.run(commands, counting)
  return { count, results }
}

describe.each(Object.keys(GROUNDS))('on %s', (kind) => {
  let ground: Ground
  let here: Store
  let elsewhere: Store

  beforeAll(async () => {
    ground = await GROUNDS[kind]!()
    here = await ground.open()
    await here.migrate()
    elsewhere = await ground.open()
  })

  afterAll(async () => {
    await here.close()
    await elsewhere.close()
    await ground.clear()
  })

  async function granted(over: Parameters<typeof newTask>[0] = {}) {
    const rig = createRig(here)
    await rig.create(over)
    const [grant] = await rig.claim()
    return { rig, grant: grant! }
  }

  describe('nobody else has touched it', () => {
    test('every report is decided once, and the next ones by what the first have made of it', async () => {
      const { rig, grant } = await granted()
      for (const say of [start, renew, renew, complete]) {
        const { count, results } = await decisions(rig, [say(grant)])
        expect([count, results[0]]).toMatchObject([1, { ok: true }])
      }
      expect(await rig.receipts()).toEqual([
        'task.assigned',
        'task.accepted',
        'task.completed',
        'task.result_ready',
      ])
    })

    test.each([
      ['releases', release, 'queued'],
      ['fails', fail, 'queued'],
    ] as const)('a worker %s it, and it is granted again', async (_what, say, status) => {
      const { rig, grant } = await granted()
      expect((await decisions(rig, [say(grant)])).count).toBe(1)
      expect((await here.readTask(rig.tenantId, grant.lease.taskId))?.state.status).toBe(status)
      rig.pass(3_600_000)
      const [again] = await rig.claim()
      expect((await decisions(rig, [complete(again!)])).count).toBe(1)
    })

    test('what is refused is checked as well', async () => {
      const { rig, grant } = await granted()
      const foreign = { ...complete(grant), worker: { kind: 'worker', id: 'another' } } as const
      const { count, results } = await decisions(rig, [foreign])
      expect([count, results[0]?.ok]).toEqual([1, false])
      expect((await decisions(rig, [complete(grant)])).count).toBe(1)
    })
  })

  test('another tenant learns nothing of it, and cannot report on it', async () => {
    const { rig, grant } = await granted()
    const { results } = await decisions(createRig(here), [complete(grant)])
    expect(results[0]?.ok).toBe(false)
    expect((await decisions(rig, [complete(grant)])).results[0]?.ok).toBe(true)
  })

  test('two who complete it at once get the same answer, and it ends once', async () => {
    const { rig, grant } = await granted()
    const [one, other] = await Promise.all([rig.run([complete(grant)]), rig.run([complete(grant)])])
    expect(one[0]).toMatchObject({ ok: true, reply: { status: 'succeeded' } })
    expect(other).toEqual(one)
    expect((await rig.receipts()).filter((type) => type === 'task.completed')).toHaveLength(1)
  })

  describe('another instance', () => {
    test.each([
      ['renewed it', renew],
      ['started it', start],
    ])('%s: it is looked at, and completed all the same', async (_what, say) => {
      const { rig, grant } = await granted()
      rig.pass(1_000)
      await rig.ask(say(grant), elsewhere)
      const { count, results } = await decisions(rig, [complete(grant)])
      expect([count, results[0]?.ok]).toEqual([2, true])
    })

    test('renewed it: it is not taken for lost when its first time is over', async () => {
      const { rig, grant } = await granted()
      rig.pass(200_000)
      await rig.ask(renew(grant), elsewhere)
      rig.pass(200_000)
      const { results } = await decisions(rig, [complete(grant)])
      expect(results[0]).toMatchObject({ ok: true, reply: { status: 'succeeded' } })
    })

    test.each([
      ['completed it', (grant: Grant) => [complete(grant)]],
      ['canceled it', (grant: Grant) => [cancel(grant)]],
      ['let it expire', (grant: Grant) => [expire(grant)]],
    ])('%s: nothing is done twice', async (what, say) => {
      const { rig, grant } = await granted()
      if (what === 'let it expire') rig.pass(301_000)
      await rig.run(say(grant), elsewhere)
      const before = await rig.receipts()
      const { count, results } = await decisions(rig, [complete(grant)])
      expect([count, results[0]?.ok]).toEqual([2, what === 'completed it'])
      const after = await rig.receipts()
      // Who completes what was canceled or lost leaves a mark of it, but no end of the task.
      const ends = (receipts: readonly string[]) =>
        receipts.filter((type) => type === 'task.result_ready').length
      expect(ends(after)).toBe(ends(before))
    })

    test('released it and granted it again, in the same millisecond: the first lease is over', async () => {
      const { rig, grant } = await granted()
      await rig.run([release(grant)], elsewhere)
      const [again] = await rig.claim({}, elsewhere)
      expect((await decisions(rig, [complete(grant)])).results[0]?.ok).toBe(false)
      expect((await decisions(rig, [complete(again!)])).results[0]?.ok).toBe(true)
    })

    test('renewed it: it is not refused for its first time beside what goes well', async () => {
      const { rig, grant } = await granted()
      rig.pass(200_000)
      await rig.ask(renew(grant), elsewhere)
      rig.pass(200_000)
      const { count, results } = await decisions(rig, [{ kind: 'create', task: newTask() }, start(grant)])
      expect([count, ...results.map(({ ok }) => ok)]).toEqual([2, true, true])
    })

    test('changed one: that is looked at, and so are others for a while', async () => {
      const { rig, grant } = await granted()
      await rig.ask(renew(grant), elsewhere)
      expect((await decisions(rig, [start(grant)])).count).toBe(2)
      await rig.create()
      const [next] = await rig.claim()
      await rig.ask(renew(next!), elsewhere)
      expect((await decisions(rig, [complete(next!)])).count).toBe(1)
    })

    test('made another task depend on it: that one is told when it ends', async () => {
      const { rig, grant } = await granted()
      await rig.create({ type: 'next', dependsOn: [grant.lease.taskId] }, elsewhere)
      expect((await decisions(rig, [complete(grant)])).count).toBe(2)
      const due = (await here.dueDependents(10)).filter(({ tenantId }) => tenantId === rig.tenantId)
      expect(due).toMatchObject([{ dependsOn: [grant.lease.taskId] }])
    })
  })
})

/** A number that no other lock has. */
const LOCK = 20_261_116

test('a row that is written anew while it is taken, and says the same, is taken', async () => {
  const ground = await GROUNDS['postgres']!()
  const store = await ground.open()
  await store.migrate()
  const rig = createRig(store)
  await rig.run([1, 2].map(() => ({ kind: 'create', task: newTask() }) as const))
  const [slow, other] = await rig.claim()
  const admin = new Client({ connectionString: ground.adminUrl })
  await admin.connect()
  // Whoever sees the first row waits there.
  await admin.query(`create policy slow on leased as restrictive using (
    case when task_id = '${slow!.lease.taskId}' then pg_advisory_xact_lock_shared(${LOCK}) is not null else true end)`)
  await admin.query('select pg_advisory_lock($1)', [LOCK])
  const completed = rig.run([complete(slow!), complete(other!)])
  const waiting = async () =>
    (
      await admin.query("select 1 from pg_locks where locktype = 'advisory' and objid = $1 and not granted", [
        LOCK,
      ])
    ).rowCount
  await expect.poll(waiting).toBe(1)
  await admin.query('update leased set check_at = check_at + 1 where task_id = $1', [other!.lease.taskId])
  await admin.query('select pg_advisory_unlock($1)', [LOCK])
  expect((await completed).map(({ ok }) => ok)).toEqual([true, true])
  expect((await admin.query('select task_id from leased')).rows).toEqual([])
  await admin.end()
  await store.close()
  await ground.clear()
})

test('a row that another transaction is changing just now is not believed to be as it was', async () => {
  const ground = await GROUNDS['postgres']!()
  const store = await ground.open()
  await store.migrate()
  const rig = createRig(store)
  await rig.create()
  const [grant] = await rig.claim()
  const admin = new Client({ connectionString: ground.adminUrl })
  await admin.connect()
  // Within a transaction one would go on seeing what the others did at first.
  const watcher = new Client({ connectionString: ground.adminUrl })
  await watcher.connect()
  await admin.query('begin')
  await admin.query('update leased set renewals = renewals + 1')
  const decided = decisions(rig, [complete(grant!)])
  const waiting = async () =>
    (
      await watcher.query<{ query: string }>(
        "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rows.map(({ query }) => query.trim())
  // Not what is written: whoever writes holds what others may wait for.
  await expect.poll(waiting).toEqual([expect.stringMatching(/^select/)])
  await admin.query('commit')
  expect(await decided).toMatchObject({ count: 2, results: [{ ok: true }] })
  await watcher.end()
  await admin.end()
  await store.close()
  await ground.clear()
})
