// A long random history on the store and on the memory store, side by side: every answer, and all that is left, are equal.
import { expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import { type Claimed, decideBatch, type Grant, type Result } from '../../src/engine/decide/index.ts'
import { needsOf } from '../../src/engine/needs.ts'
import { createIds, type Random } from '../../src/ids.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store, TaskView } from '../../src/store/port.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'
import {
  AGENT,
  claimCommand,
  complete,
  EVERY_RECEIPT,
  EVERY_TASK,
  fail,
  holding,
  newTask,
  POLICY,
} from './rig.ts'

const BATCHES = 120
const ACTOR = { principal: AGENT, sees: 'all' } as const

/** What commands can name. */
interface Known {
  readonly taskIds: string[]
  readonly receiptIds: string[]
  readonly grants: Grant[]
}

export function history(given: Given): void {
  test.each([1, 2, 3])('random history %i is the same as in memory', async (seed) => {
    const tenantId = `history ${process.pid} ${seed}`
    const sides = [side(given().store, tenantId, seed), side(createMemoryStore(), tenantId, seed)] as const
    const chance = createSeededRandom(seed)
    const known: Known = { taskIds: [], receiptIds: [], grants: [] }
    let now = Date.UTC(2026, 0, 1)
    for (let batch = 0; batch < BATCHES; batch++) {
      now += chance.below(20_000)
      const commands = await choose(sides[1].store, { tenantId, now, chance, known })
      const [result, wanted] = await Promise.all(sides.map((each) => each.run(commands, now)))
      expect(result, `batch ${batch}: ${JSON.stringify(commands)}`).toEqual(wanted)
      learn(known, commands, wanted!)
    }
    const wanted = await remains(sides[1].store, tenantId, now)
    for (const [what, found] of Object.entries(await remains(sides[0].store, tenantId, now))) {
      expect(found, what).toEqual(wanted[what as keyof typeof wanted])
    }
  })
}

function side(store: Store, tenantId: string, seed: number) {
  const random = createSeededRandom(seed)
  const ids = createIds({ clock: { now: () => 0, after: () => () => {} }, random })
  return {
    store,
    run: async (commands: readonly Command[], now: number) => {
      const results = await store.transact({
        tenantId,
        now,
        needs: needsOf(commands, POLICY),
        decide: (snapshot) =>
          decideBatch(snapshot, commands, { tenantId, now, ids, random, policy: POLICY, instance: 'test' }),
      })
      return results.map((result) => (result.ok ? result : { ok: false, error: result.error.body() }))
    },
  }
}

function learn(
  known: Known,
  commands: readonly Command[],
  results: readonly (Result | { ok: boolean })[],
): void {
  for (const [index, command] of commands.entries()) {
    const result = results[index] as Result
    if (!result.ok) continue
    if (command.kind === 'create') {
      const { taskId, receiptId } = result.reply as { taskId: string; receiptId: string }
      known.taskIds.push(taskId)
      known.receiptIds.push(receiptId)
    }
    if (command.kind === 'claim') known.grants.push(...(result.reply as Claimed).grants)
  }
}

interface Choosing {
  readonly tenantId: string
  readonly now: number
  readonly chance: Random
  readonly known: Known
}

async function choose(oracle: Store, of: Choosing): Promise<Command[]> {
  const commands = Array.from({ length: 1 + of.chance.below(8) }, () => any(of))
  if (of.chance.below(4) > 0) return commands
  const leases = await oracle.dueLeases(of.now, 50)
  const timers = await oracle.dueTimers(of.now, 50)
  const dependents = await oracle.dependentsOf(of.tenantId, of.known.taskIds)
  return [
    ...commands,
    ...leases.map(({ taskId, leaseId }) => ({ kind: 'expire', taskId, leaseId }) as const),
    ...timers
      .filter(({ kind }) => kind === 'deadline')
      .map(({ taskId }) => ({ kind: 'deadline', taskId }) as const),
    ...dependents.map(({ taskId, dependsOn }) => ({ kind: 'resolve', taskId, dependsOn }) as const),
  ]
}

function any(of: Choosing): Command {
  const { chance, known } = of
  const pick = <T>(list: readonly T[]): T | undefined => list[chance.below(list.length)]
  const grant = pick(known.grants)
  const taskId = pick(known.taskIds)
  const receiptId = pick(known.receiptIds)
  const move = chance.below(20)
  if (move < 7 || taskId === undefined || receiptId === undefined) return create(of)
  if (move < 11) return claim(of)
  if (move === 11) return { kind: 'cancel', actor: ACTOR, taskId, reason: null }
  if (move === 12) return { kind: 'retry', actor: ACTOR, taskId }
  if (move === 13) return { kind: 'ack', actor: ACTOR, receiptId }
  if (move === 14) return submit(of, receiptId)
  if (grant === undefined)
    return { kind: 'greet', principal: AGENT, instanceId: pick(['a', 'b', null]) ?? null }
  if (move === 15) return { kind: 'progress', ...holding(grant), progress: { percent: chance.below(100) } }
  if (move === 16) return { kind: 'renew', ...holding(grant), extendBySeconds: 20 }
  if (move === 17) return fail(grant, { retryable: chance.below(3) > 0 })
  if (move === 18) return { kind: 'release', ...holding(grant), reason: null }
  return complete(grant)
}

function create({ chance, known, now }: Choosing): Command {
  const sometimes = <T>(value: T, odds: number): T | undefined =>
    chance.below(odds) === 0 ? value : undefined
  const capabilities = [[], [], ['gpu'], ['gpu', 'disk']][chance.below(4)]!
  const key = sometimes(`k${chance.below(2)}`, 3) ?? null
  return {
    kind: 'create',
    task: newTask({
      type: `t${chance.below(3)}`,
      capabilities,
      priority: chance.below(3),
      tags: sometimes(['red'], 4) ?? [],
      delaySeconds: sometimes(chance.below(60), 4) ?? null,
      idempotencyKey: sometimes(`i${chance.below(5)}`, 6) ?? null,
      concurrencyKey: key,
      concurrencyLimit: key === null ? null : 1 + chance.below(3),
      timeoutSeconds: sometimes(15, 6) ?? null,
      deadlineAt: sometimes(now + chance.below(120_000), 6) ?? null,
      dependsOn: known.taskIds.length > 0 && chance.below(5) === 0 ? [known.taskIds.at(-1)!] : [],
      onDependencyFailure: chance.below(2) === 0 ? 'run' : 'cancel',
      payload: { n: chance.below(1_000) },
    }),
  }
}

function claim({ chance }: Choosing): Command {
  const types = ['t0', 't1', 't2', 't3'].filter(() => chance.below(2) === 0)
  return claimCommand({
    worker: { kind: 'worker', id: `w${chance.below(3)}` },
    capabilities: ['disk', 'gpu'].filter(() => chance.below(2) === 0),
    preferred: chance.below(3) === 0 ? ['t2'] : [],
    max: 1 + chance.below(4),
    ttlSeconds: 10 + chance.below(40),
    ...(chance.below(2) === 0 ? { types } : {}),
    ...(chance.below(3) === 0 ? { capacity: 3 } : {}),
  })
}

function submit({ chance }: Choosing, parent: string): Command {
  const receiptType = ['x.note', 'schedule.created', 'schedule.deleted'][chance.below(3)]!
  const parents = chance.below(3) === 0 ? [] : [parent]
  const body = { n: chance.below(2) }
  return {
    kind: 'submitReceipt',
    from: AGENT,
    to: AGENT,
    receiptType,
    parents,
    body,
    taskId: null,
    scheduleId: null,
  }
}

/**
 * Of the tasks that wait under a concurrency key, a store may offer more to the engine than there is room for; which of them
 * are ready and which are parked then differs, and whom they are granted to does not.
 */
function comparable(task: TaskView): TaskView {
  if (task.definition.concurrencyKey === null || task.state.status !== 'queued') return task
  return { ...task, state: { ...task.state, place: 'none', updatedAt: 0 } }
}

/** All that a store can tell of a tenant. */
async function remains(store: Store, tenantId: string, now: number) {
  const tasks = await store.listTasks({ ...EVERY_TASK, tenantId, limit: 10_000 })
  const receipts = await store.listReceipts({ ...EVERY_RECEIPT, tenantId })
  const ids = tasks.map(({ definition }) => definition.taskId)
  const progress = await Promise.all(
    ids.map((taskId) => store.listProgress({ tenantId, taskId, after: null, limit: 100 })),
  )
  const ends = receipts.map(({ receipt }) => store.dischargedBy(tenantId, receipt.receiptId))
  const own = <T extends { tenantId: string }>(found: readonly T[]) =>
    found
      .filter((each) => each.tenantId === tenantId)
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return {
    tasks: tasks.map(comparable),
    receipts,
    progress,
    ends: await Promise.all(ends),
    open: await store.openObligations({ tenantId, principal: AGENT, after: null, limit: 10_000 }),
    relationship: { ...(await store.readRelationship(tenantId, AGENT)), instanceId: undefined },
    active: [await store.countActive(tenantId, 'k0'), await store.countActive(tenantId, 'k1')],
    nextEligibleAt: await store.nextEligibleAt(tenantId),
    dueLeases: own(await store.dueLeases(now + 1e9, 100_000)),
    dueTimers: own(await store.dueTimers(now + 1e9, 100_000)),
    dependents: own(await store.dependentsOf(tenantId, ids)),
  }
}
