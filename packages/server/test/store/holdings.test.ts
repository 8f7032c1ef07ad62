// Definitions of tasks that somebody holds: read once, and only for whom they are.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TaskDefinition } from '../../src/engine/model.ts'
import { createHoldings } from '../../src/store/sql/holdings.ts'
import type { Session } from '../../src/store/sql/session.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { NO_CHANGES } from '../no-changes.ts'
import { createRig } from './rig.ts'

/** A real task, since what is remembered of one is all of it. */
async function leasedTask(payload: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-holdings-'))
  const store = await createSqliteStore({ path: join(folder, 'gate.db') })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  await store.migrate()
  const rig = createRig(store)
  await rig.create({ payload })
  const [grant] = await rig.claim()
  return { ...grant!, tenantId: rig.tenantId }
}

/** Finds nothing, and tells how many were asked for. */
function countingSession() {
  const asked: number[] = []
  const session: Session = {
    all: async () => [],
    each: async (_bulk, _tenantId, rows) => {
      asked.push(rows.length)
      return []
    },
  }
  return { session, asked }
}

test('what was granted is remembered until it is reported', async () => {
  const { task, tenantId } = await leasedTask()
  const { taskId } = task.definition
  const { session, asked } = countingSession()
  const holdings = createHoldings()
  holdings.committed(tenantId, { ...NO_CHANGES, changedTasks: [{ before: task, after: task }] })
  const found: ReadonlyMap<string, TaskDefinition> = await holdings.definitions(session, tenantId, [taskId])
  expect(found.get(taskId)).toBe(task.definition)
  const ended = { ...task, state: { ...task.state, status: 'succeeded' } } as const
  holdings.committed(tenantId, { ...NO_CHANGES, changedTasks: [{ before: task, after: ended }] })
  expect((await holdings.definitions(session, tenantId, [taskId])).size).toBe(0)
  expect(asked).toEqual([0, 1])
})

test('it is not shown to another tenant', async () => {
  const { task, tenantId } = await leasedTask()
  const { session, asked } = countingSession()
  const holdings = createHoldings()
  holdings.committed(tenantId, { ...NO_CHANGES, createdTasks: [task] })
  expect((await holdings.definitions(session, 'another', [task.definition.taskId])).size).toBe(0)
  expect(asked).toEqual([1])
})

test('what is large, and more than so many, are read again', async () => {
  const { task: large, tenantId } = await leasedTask({ text: 'x'.repeat(20_000) })
  const { session, asked } = countingSession()
  const holdings = createHoldings()
  holdings.committed(tenantId, { ...NO_CHANGES, createdTasks: [large] })
  await holdings.definitions(session, tenantId, [large.definition.taskId])
  const small = { ...large, definition: { ...large.definition, payload: {} } }
  const many = Array.from({ length: 10_001 }, (_, index) => ({
    ...small,
    definition: { ...small.definition, taskId: String(index) },
  }))
  holdings.committed(tenantId, { ...NO_CHANGES, createdTasks: many })
  const found = await holdings.definitions(
    session,
    tenantId,
    many.map(({ definition }) => definition.taskId),
  )
  expect([found.size, found.has('0'), found.has('1')]).toEqual([10_000, false, true])
  expect(asked).toEqual([1, 1])
})

test('of what is held, the lease that was granted here is remembered, until it is in doubt', async () => {
  const { task, lease, tenantId } = await leasedTask()
  const { taskId } = task.definition
  const holdings = createHoldings()
  const changes = { ...NO_CHANGES, changedTasks: [{ before: task, after: task }] }
  holdings.committed(tenantId, changes)
  expect(holdings.of(tenantId, [taskId])).toEqual([])
  holdings.committed(tenantId, { ...changes, grantedLeases: [lease] })
  expect(holdings.of('another', [taskId])).toEqual([])
  const renewed = { ...lease, renewals: 1 }
  holdings.committed(tenantId, { ...NO_CHANGES, changedLeases: [renewed] })
  const [held] = holdings.of(tenantId, [taskId])
  expect(held).toEqual({ task: { definition: task.definition, state: task.state }, lease: renewed })
  holdings.doubt(tenantId, [held!])
  holdings.committed(tenantId, { ...changes, grantedLeases: [lease] })
  const looks = Array.from({ length: 60 }, () => holdings.of(tenantId, [taskId]).length)
  expect(looks.indexOf(1)).toBe(50)
})
