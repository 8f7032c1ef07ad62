// Claims: what fits, in order, whatever else there is.
import { expect, test } from 'vitest'
import type { Given } from './conformance.ts'
import { createRig, fail, holding, newTask, type Rig } from './rig.ts'

async function createAll(rig: Rig, tasks: readonly Parameters<typeof newTask>[0][]): Promise<void> {
  await rig.run(tasks.map((task) => ({ kind: 'create', task: newTask(task) }) as const))
}

export function claims(given: Given): void {
  test('priority first, then age', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [
      { summary: 'a' },
      { summary: 'b', priority: 5 },
      { summary: 'c', priority: -1 },
      { summary: 'd', priority: 5, type: 'other' },
      { summary: 'e' },
    ])
    expect(await rig.claimed({ max: 3 })).toEqual(['b', 'd', 'a'])
    expect(await rig.claimed()).toEqual(['e', 'c'])
    expect(await rig.claimed()).toEqual([])
  })

  test('only accepted types; no type at all is none', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [
      { summary: 'a', type: 'x' },
      { summary: 'b', type: 'y', priority: 1 },
      { summary: 'c', type: 'z', priority: 9 },
    ])
    expect(await rig.claimed({ types: [] })).toEqual([])
    expect(await rig.claimed({ types: ['x', 'y', 'unknown'] })).toEqual(['b', 'a'])
    expect(await rig.claimed()).toEqual(['c'])
  })

  test('only what the worker’s capabilities cover, in lanes that merge by priority', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [
      { summary: 'none' },
      { summary: 'gpu', capabilities: ['GPU'], priority: 1 },
      { summary: 'both', capabilities: ['gpu', 'Disk', 'DISK'], priority: 2 },
      { summary: 'other', capabilities: ['a "quoted", one'], priority: 3 },
    ])
    expect(await rig.claimed({ capabilities: ['disk'] })).toEqual(['none'])
    expect(await rig.claimed({ capabilities: ['disk', 'gpu', 'more'], max: 1 })).toEqual(['both'])
    expect(await rig.claimed({ capabilities: ['a "quoted", one', 'gpu'] })).toEqual(['other', 'gpu'])
  })

  test('a lane that another instance adds is found by the next claim, whatever was claimed before', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    const add = (summary: string, capabilities: string[], on = store) =>
      rig.run(
        [
          {
            kind: 'create',
            task: newTask({ summary, capabilities, type: 'x', priority: capabilities.length }),
          },
        ],
        on,
      )
    const able = { capabilities: ['gpu'], max: 1 }
    const known = [{ ...able, types: ['x'] }, able]
    for (const claim of known) {
      await add('first', [])
      await add('second', [])
      expect(await rig.claimed(claim)).toEqual(['first'])
      expect(await rig.claimed(claim)).toEqual(['second'])
      expect(await rig.claimed(claim)).toEqual([])
      expect(await rig.claimed({ ...able, types: [] })).toEqual([])
    }
    await add('plain', [])
    await add('better', ['gpu'], beside)
    expect(await rig.claimed({ ...able, types: ['x'] })).toEqual(['better'])
    expect(await rig.claimed(able)).toEqual(['plain'])
  })

  test('preferred types come first within their priority, among any and among accepted types', async () => {
    for (const types of [undefined, ['x', 'y', 'z']]) {
      const rig = createRig(given().store)
      await createAll(rig, [
        { summary: 'old', type: 'x' },
        { summary: 'liked', type: 'y' },
        { summary: 'urgent', type: 'x', priority: 1 },
        { summary: 'liked too', type: 'z' },
      ])
      const claim = { preferred: ['z', 'y'], ...(types === undefined ? {} : { types }) }
      expect(await rig.claimed({ ...claim, max: 2 })).toEqual(['urgent', 'liked'])
      expect(await rig.claimed({ ...claim, max: 2 })).toEqual(['liked too', 'old'])
    }
  })

  test('what fits is found behind any number that does not', async () => {
    const rig = createRig(given().store)
    await createAll(
      rig,
      Array.from({ length: 200 }, (_, index) => ({
        priority: 10,
        ...(index % 2 ? { type: 'foreign' } : { capabilities: ['rare'] }),
      })),
    )
    await createAll(rig, [{ summary: 'mine' }])
    expect(await rig.claimed({ types: ['echo'], max: 1 })).toEqual(['mine'])
  })

  test('several claims of one unit share no task', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [{ summary: 'a' }, { summary: 'b', type: 'x' }, { summary: 'c' }])
    const claim = (id: string, types: readonly string[] | null) =>
      ({
        kind: 'claim',
        worker: { kind: 'worker', id },
        filter: { capabilities: [], acceptTypes: types, preferredTypes: [] },
        maxTasks: 1,
        ttlSeconds: null,
        capacity: null,
      }) as const
    const results = await rig.run([
      claim('w1', null),
      claim('w2', ['x']),
      claim('w3', null),
      claim('w4', null),
    ])
    const given1 = results.map((result) => (result.ok ? result.reply : null))
    expect(given1).toMatchObject([
      { grants: [{ task: { definition: { summary: 'a' } } }] },
      { grants: [{ task: { definition: { summary: 'b' } } }] },
      { grants: [{ task: { definition: { summary: 'c' } } }] },
      { grants: [] },
    ])
  })

  test('claims of several instances at once give each task to one worker', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    await createAll(
      rig,
      Array.from({ length: 200 }, (_, index) => ({ summary: `${index}` })),
    )
    const taken: (string | null)[] = []
    for (let round = 0; taken.length < 200 && round < 50; round++) {
      const grants = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          rig.claim({ worker: { kind: 'worker', id: `w${index}` }, max: 7 }, index % 2 ? store : beside),
        ),
      )
      taken.push(...grants.flat().map(({ task }) => task.definition.summary))
    }
    expect(taken).toHaveLength(200)
    expect(new Set(taken).size).toBe(200)
  })

  test('a delayed task is claimed from its time on, in its place', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [
      { summary: 'later', delaySeconds: 60, priority: 1 },
      { summary: 'now' },
      { summary: 'last' },
    ])
    expect(await rig.store.nextEligibleAt(rig.tenantId)).toBe(rig.now() + 60_000)
    expect(await rig.claimed({ max: 1 })).toEqual(['now'])
    rig.pass(59_999)
    expect(await rig.claimed({ types: ['none'] })).toEqual([])
    rig.pass(1)
    expect(await rig.claimed()).toEqual(['later', 'last'])
    expect(await rig.store.nextEligibleAt(rig.tenantId)).toBeNull()
  })

  test('more delayed tasks than one chunk come due at once, and none stays hidden', async () => {
    const rig = createRig(given().store)
    const many = Array.from({ length: 2_100 }, (_, index) => ({ delaySeconds: 1 + (index % 3) }))
    for (let start = 0; start < many.length; start += 700)
      await createAll(rig, many.slice(start, start + 700))
    await createAll(rig, [{ summary: 'best', delaySeconds: 5, priority: 1 }])
    rig.pass(10_000)
    expect(await rig.claimed({ max: 1 })).toEqual(['best'])
    expect(await rig.claim({ max: 1_000 })).toHaveLength(1_000)
  })

  test('a unit that claims and cancels a task whose delay has just ended leaves no trace of it', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create({ delaySeconds: 1 })
    rig.pass(1_000)
    const actor = { principal: { kind: 'agent', id: 'ada' }, sees: 'all' } as const
    await rig.run([
      { kind: 'cancel', actor, taskId, reason: null },
      {
        kind: 'claim',
        worker: { kind: 'worker', id: 'w' },
        filter: { capabilities: [], acceptTypes: null, preferredTypes: [] },
        maxTasks: 1,
        ttlSeconds: null,
        capacity: null,
      },
    ])
    expect((await rig.store.readTask(rig.tenantId, taskId))?.state.status).toBe('canceled')
    expect(await rig.claimed()).toEqual([])
  })

  test('a released task is claimed again at once, a failed one after its backoff', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [{ summary: 'a' }, { summary: 'b' }])
    const [a, b] = await rig.claim()
    await rig.run([{ kind: 'release', ...holding(a!), reason: null }, fail(b!)])
    expect(await rig.claimed()).toEqual(['a'])
    rig.pass(30_000)
    expect(await rig.claimed()).toEqual(['b'])
  })

  test('a task keeps its place in the line over a release', async () => {
    const rig = createRig(given().store)
    await createAll(rig, [{ summary: 'a' }, { summary: 'b' }])
    const [a] = await rig.claim({ max: 1 })
    await rig.ask({ kind: 'release', ...holding(a!), reason: null })
    expect(await rig.claimed()).toEqual(['a', 'b'])
  })
}
