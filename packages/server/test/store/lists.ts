// Lists of tasks, and figures.
import { expect, test } from 'vitest'
import type { TaskQuery } from '../../src/store/port.ts'
import type { Given } from './conformance.ts'
import { AGENT, complete, createRig, EVERY_TASK, fail, newTask, type Rig } from './rig.ts'

const GRACE = { kind: 'human', id: 'grace' } as const
const BOB = { kind: 'agent', id: 'bob' } as const

/** Tasks a to f, a minute apart, in all sorts of states. */
async function scene(rig: Rig): Promise<void> {
  await rig.create({ summary: 'a', type: 'x', tags: ['red', 'red'], maxAttempts: 1 })
  rig.pass(60_000)
  await rig.create({ summary: 'b', type: 'x', recipient: GRACE })
  rig.pass(60_000)
  await rig.create({ summary: 'c', type: 'y', createdBy: BOB, recipient: AGENT, tags: ['red', 'blue'] })
  rig.pass(60_000)
  await rig.create({ summary: 'd', type: 'y', createdBy: BOB, recipient: BOB })
  rig.pass(60_000)
  await rig.create({ summary: 'e', type: 'x', delaySeconds: 3_600 })
  rig.pass(60_000)
  await rig.create({
    summary: 'f',
    type: 'z',
    tags: ['blue'],
    createdBy: { kind: 'service', id: 'ada' },
    recipient: GRACE,
  })
  const [a, b] = await rig.claim({ types: ['x'], max: 2 })
  await rig.run([fail(a!), complete(b!)])
  await rig.claim({ types: ['y'], max: 1 })
}

const CASES: [string, Partial<TaskQuery>, string][] = [
  ['everything, newest first', {}, 'fedcba'],
  ['a limit', { limit: 2 }, 'fe'],
  ['a status', { status: 'queued' }, 'fed'],
  ['another status', { status: 'leased' }, 'c'],
  ['a status that none has', { status: 'running' }, ''],
  ['a type', { type: 'x' }, 'eba'],
  ['a type and a status', { type: 'x', status: 'succeeded' }, 'b'],
  ['dead letters', { deadLetter: true }, 'a'],
  ['failed dead letters', { deadLetter: true, status: 'failed' }, 'a'],
  ['no dead letters', { deadLetter: false }, 'fedcb'],
  ['a tag', { tag: 'red' }, 'ca'],
  ['a tag and a type', { tag: 'blue', type: 'z' }, 'f'],
  ['an owner', { createdBy: BOB }, 'dc'],
  ['an owner of any kind', { createdBy: { kind: null, id: 'ada' } }, 'feba'],
  ['an owner of one kind', { createdBy: { kind: 'agent', id: 'ada' } }, 'eba'],
  ['what concerns an owner', { concerning: AGENT }, 'ecba'],
  ['what concerns a recipient', { concerning: GRACE }, 'fb'],
  ['what concerns one, of a status', { concerning: AGENT, status: 'leased' }, 'c'],
  ['what concerns one, with a tag', { concerning: AGENT, tag: 'red' }, 'ca'],
  ['what concerns one, two at most', { concerning: AGENT, limit: 2 }, 'ec'],
]

export function lists(given: Given): void {
  test('every filter of a list of tasks', async () => {
    const rig = createRig(given().store)
    await scene(rig)
    for (const [what, query, wanted] of CASES) expect((await rig.tasks(query)).join(''), what).toBe(wanted)
  })

  test('creation time, from and before', async () => {
    const rig = createRig(given().store)
    const start = rig.now()
    await scene(rig)
    const minute = (n: number) => start + n * 60_000
    expect((await rig.tasks({ createdFrom: minute(2) })).join('')).toBe('fedc')
    expect((await rig.tasks({ createdFrom: minute(2) + 1 })).join('')).toBe('fed')
    expect((await rig.tasks({ createdBefore: minute(2) })).join('')).toBe('ba')
    expect((await rig.tasks({ createdBefore: minute(2) + 1 })).join('')).toBe('cba')
    expect((await rig.tasks({ createdFrom: minute(1), createdBefore: minute(3), type: 'x' })).join('')).toBe(
      'b',
    )
    expect(
      (await rig.tasks({ createdFrom: start - 1e12, createdBefore: start + 1e12, tag: 'red' })).join(''),
    ).toBe('ca')
  })

  test('pages are disjoint and complete, for every filter', async () => {
    const rig = createRig(given().store)
    await scene(rig)
    for (const [what, query, wanted] of CASES.filter(([, { limit }]) => limit === undefined)) {
      let before: string | null = null
      let found = ''
      for (;;) {
        const page: Awaited<ReturnType<typeof rig.store.listTasks>> = await rig.store.listTasks({
          ...EVERY_TASK,
          ...query,
          tenantId: rig.tenantId,
          before,
          limit: 2,
        })
        found += page.map(({ definition }) => definition.summary).join('')
        if (page.length < 2) break
        before = page.at(-1)!.definition.taskId
      }
      expect(found, what).toBe(wanted)
    }
  })

  test('a list shows the lease and the progress of each task', async () => {
    const rig = createRig(given().store)
    await rig.run([
      { kind: 'create', task: newTask() },
      { kind: 'create', task: newTask() },
    ])
    const [grant] = await rig.claim({ max: 1 })
    const { worker, taskId, leaseId } = grant!.lease
    await rig.ask({ kind: 'progress', worker, taskId, leaseId, progress: { percent: 1 } })
    const tasks = await rig.store.listTasks({ ...EVERY_TASK, tenantId: rig.tenantId })
    expect(tasks).toMatchObject([
      { lease: null, progress: null },
      { lease: grant!.lease, progress: { percent: 1 }, state: { status: 'running' } },
    ])
  })

  test('figures count what there is', async () => {
    const rig = createRig(given().store)
    const before = await rig.store.stats(rig.now())
    const start = rig.now()
    await scene(rig)
    const after = await rig.store.stats(rig.now())
    const difference = (member: 'ready' | 'delayed' | 'activeLeases' | 'openObligations') =>
      after[member] - before[member]
    expect({
      queued: after.byStatus.queued - before.byStatus.queued,
      leased: after.byStatus.leased - before.byStatus.leased,
      failed: after.byStatus.failed - before.byStatus.failed,
      ready: difference('ready'),
      delayed: difference('delayed'),
      leases: difference('activeLeases'),
      open: difference('openObligations'),
    }).toEqual({ queued: 3, leased: 1, failed: 1, ready: 2, delayed: 1, leases: 1, open: 4 })
    expect(after.workers).toBeGreaterThan(0)
    expect(after.oldestReadyAt).toBeLessThanOrEqual(start + 180_000)
  })
}
