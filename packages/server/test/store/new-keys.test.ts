// Idempotency keys that nobody has used before, as nearly all are: PostgreSQL is not asked for them before they are written,
// and callers cannot tell.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { createRig, holding, newTask, type Rig } from './rig.ts'

let database: TestDatabase
let store: Store
let beside: Store

beforeAll(async () => {
  database = await createDatabase()
  const open = () => createPostgresStore({ ...database, poolSize: 4, preparedStatements: true })
  store = await open()
  beside = await open()
  await store.migrate()
})
afterAll(async () => {
  await store.close()
  await beside.close()
  await database.drop()
})

const creation = (idempotencyKey: string, over: Partial<Parameters<typeof newTask>[0]> = {}): Command => ({
  kind: 'create',
  task: newTask({ idempotencyKey, ...over }),
})

/** For each time that the commands were decided, whether keys had been looked up. */
async function looks(rig: Rig, commands: readonly Command[], on: Store = store) {
  const seen: boolean[] = []
  const watching: Store = {
    ...on,
    transact: (unit) =>
      on.transact({
        ...unit,
        decide: (snapshot) => {
          seen.push(snapshot.knowsKeys)
          return unit.decide(snapshot)
        },
      }),
  }
  const results = await rig.run(commands, watching)
  return { seen, results }
}

test('a new key is not looked up', async () => {
  const { seen } = await looks(createRig(store), [creation('a'), creation('b')])
  expect(seen).toEqual([false])
})

test('one that there is gets the first answer, and what came with it is done once', async () => {
  const rig = createRig(store)
  const [first] = (await looks(rig, [creation('a')])).results
  const { seen, results } = await looks(rig, [creation('b'), creation('a'), creation('c')], beside)
  expect(seen).toEqual([false, true])
  expect(results[1]).toMatchObject({
    reply: { taskId: (first as { reply: { taskId: string } }).reply.taskId, isDuplicate: true },
  })
  expect(await rig.receipts()).toEqual(['task.assigned', 'task.assigned', 'task.assigned'])
})

test('another body under a key that there is conflicts', async () => {
  const rig = createRig(store)
  await rig.create({ idempotencyKey: 'a' })
  const { results } = await looks(rig, [creation('a', { payload: { other: true } })], beside)
  expect(results[0]).toMatchObject({ ok: false, error: { code: 'idempotency_conflict' } })
  expect(await rig.receipts()).toEqual(['task.assigned'])
})

test('a key that there is casts no doubt on the leases that were reported with it', async () => {
  const rig = createRig(store)
  await rig.create({ idempotencyKey: 'a' })
  await rig.create()
  const [known, other] = await rig.claim({ max: 2 })
  const start = (grant: Grant): Command => ({ kind: 'start', ...holding(grant) })
  expect((await looks(rig, [creation('a'), start(known!)])).seen).toEqual([false, true])
  await rig.run([{ kind: 'renew', extendBySeconds: null, ...holding(other!) }], beside)
  // Decided by what is remembered, which is not so any more, and then again.
  expect((await looks(rig, [start(other!)])).seen).toHaveLength(2)
})

test('what is refused is looked up first: it may have been accepted before', async () => {
  const rig = createRig(store)
  const dependsOn = ['019b76da-0000-7000-8000-000000000009']
  const { seen, results } = await looks(rig, [creation('a', { dependsOn })])
  expect(seen).toEqual([false, true])
  expect(results[0]).toMatchObject({ ok: false, error: { code: 'not_found' } })
  // Where one is refused, others will be: these are not decided twice.
  expect((await looks(rig, [creation('b', { dependsOn })])).seen).toEqual([true])
})

test('once a key came twice, the next fifty commits of the tenant look, and no other tenant', async () => {
  const rig = createRig(store)
  await rig.create({ idempotencyKey: 'a' })
  await rig.create({ idempotencyKey: 'a' })
  const another = await looks(createRig(store), [creation('z')])
  const seen: boolean[] = []
  for (let n = 0; n < 51; n += 1) seen.push(...(await looks(rig, [creation(`key ${n}`)])).seen)
  expect(another.seen).toEqual([false])
  expect(seen).toEqual([...Array.from({ length: 50 }, () => true), false])
})
