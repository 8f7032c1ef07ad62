// Random commands over what a tenant has: most of them sensible, some of them too late or never right.
import type { Command } from '../../src/engine/command.ts'
import type { Claimed, Grant, Result } from '../../src/engine/decide/index.ts'
import type { Random } from '../../src/ids.ts'
import { AGENT, claimCommand, complete, fail, holding, newTask } from './rig.ts'

const ACTOR = { principal: AGENT, sees: 'all' } as const

/** What commands can name. */
export interface Known {
  readonly taskIds: string[]
  readonly receiptIds: string[]
  readonly grants: Grant[]
}

export interface Choosing {
  readonly now: number
  readonly chance: Random
  readonly known: Known
}

/** Remembers what can be named from now on. */
export function learn(
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

export function anyCommand(of: Choosing): Command {
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
