// One round of the hammering: everybody does everything at once, much of it twice.
import type { Command, Holding } from '../../src/engine/command.ts'
import type { Result } from '../../src/engine/decide/index.ts'
import type { Principal } from '../../src/engine/model.ts'
import type { Chance } from '../simulation/chance.ts'
import { claimOf, completeOf, failOf, newTask } from '../simulation/commands.ts'
import type { Hammer } from './hammer.ts'

export const OWNER: Principal = { kind: 'agent', id: 'owner' }
/** Workers with an even number declare this at every claim. */
export const CAPACITY = 3
const WORKERS = 16
const SAME_KEY = 20

export interface Round {
  readonly number: number
  readonly chance: Chance
  /** Tasks that somebody was told of. */
  readonly tasks: string[]
}

export function workerOf(number: number): { worker: Principal; capacity: number | null } {
  return {
    worker: { kind: 'worker', id: `worker-${number}` },
    capacity: number % 2 === 0 ? CAPACITY : null,
  }
}

export async function playRound(hammer: Hammer, round: Round): Promise<void> {
  await Promise.all([
    createOnce(hammer, round),
    ...Array.from({ length: 8 }, () => createSome(hammer, round)),
    ...Array.from({ length: 6 }, () => cancelOne(hammer, round)),
    ...Array.from({ length: WORKERS }, (_, number) => work(hammer, { ...round, number })),
    hammer.sweep(),
  ])
}

/** Twenty parallel creations with one key: one task. */
async function createOnce(hammer: Hammer, { number, tasks }: Round): Promise<void> {
  const task = newTask(OWNER, { idempotencyKey: `round ${number}`, priority: 1 })
  const answers = await Promise.all(
    Array.from({ length: SAME_KEY }, () => hammer.ask([{ kind: 'create', task }])),
  )
  const created = new Set(answers.flat().map(taskIdOf))
  if (created.size !== 1) throw new Error(`one key gave ${created.size} tasks`)
  tasks.push(...([...created] as string[]))
}

function taskIdOf(result: Result): string {
  if (!result.ok) throw result.error
  return (result.reply as { taskId: string }).taskId // the reply of a create
}

async function createSome(hammer: Hammer, { chance, tasks }: Round): Promise<void> {
  const commands = Array.from({ length: 4 }, (): Command => {
    const concurrencyKey = chance.percent(40) ? chance.pick(['one', 'two']) : null
    const wanted = {
      type: chance.pick(['a', 'b']),
      priority: chance.below(3),
      concurrencyKey,
      concurrencyLimit: concurrencyKey === 'two' ? 2 : null,
      maxAttempts: 2,
      retryBackoffSeconds: 1,
      delaySeconds: chance.percent(20) ? 5 : null,
      dependsOn: tasks.length > 0 && chance.percent(20) ? [chance.pick(tasks)] : [],
    }
    return { kind: 'create', task: newTask(OWNER, wanted) }
  })
  tasks.push(...(await hammer.ask(commands)).map(taskIdOf))
}

async function cancelOne(hammer: Hammer, { chance, tasks }: Round): Promise<void> {
  if (tasks.length === 0) return
  const actor = { principal: OWNER, sees: 'own' } as const
  const cancel: Command = { kind: 'cancel', actor, taskId: chance.pick(tasks), reason: null }
  const answers = await Promise.all([hammer.ask([cancel]), hammer.ask([cancel])])
  const done = answers.flat().filter((result) => result.ok && (result.reply as { ok: boolean }).ok)
  if (done.length > 1) throw new Error('a task was canceled twice')
}

/** Claims, and reports each outcome to two engines at once; now and then it goes silent and loses its leases. */
async function work(hammer: Hammer, { chance, number }: Round): Promise<void> {
  const { worker, capacity } = workerOf(number)
  const grants = await hammer.claim(claimOf(worker, { maxTasks: 2, ttlSeconds: 10, capacity }))
  await Promise.all(
    grants.map(async ({ lease }) => {
      const report = reportOf({ worker, taskId: lease.taskId, leaseId: lease.leaseId }, chance)
      if (report === null) return
      const [first, second] = await Promise.all([hammer.ask([report]), hammer.ask([report])])
      if (
        JSON.stringify(first.map(essence)) !== JSON.stringify(second.map(essence)) &&
        first.length === second.length
      ) {
        throw new Error(`${report.kind} was answered in two ways: ${JSON.stringify([first, second])}`)
      }
    }),
  )
}

function essence(result: Result): unknown {
  return result.ok ? result.reply : result.error.code
}

function reportOf(holding: Holding, chance: Chance): Command | null {
  const kind = chance.weighted({ complete: 6, fail: 2, release: 1, silence: 2 })
  if (kind === 'complete') return completeOf(holding, { storeResult: chance.percent(80) })
  if (kind === 'fail') return failOf(holding)
  return kind === 'release' ? { kind, ...holding, reason: null } : null
}
