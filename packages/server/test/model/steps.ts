// The steps of a run, as fast-check draws and shrinks them: each speaks of "the third task", "the second lease", so that a
// shorter run still makes sense.
import fc from 'fast-check'
import type { Actor, Command, Holding, LeaseCommand, NewTask } from '../../src/engine/command.ts'
import type { Principal } from '../../src/engine/model.ts'
import { claimOf, completeOf, failOf, newTask } from '../simulation/commands.ts'

/** What a run knows so far, from the oracle's answers. */
export interface Known {
  now: number
  readonly tasks: string[]
  readonly leases: Holding[]
  readonly receipts: string[]
}

/** A step says what it is, and makes its commands from what is known; none when it cannot be said yet. */
export interface Step {
  readonly text: string
  readonly commands: (known: Known) => readonly Command[]
}

export const AGENTS: readonly Principal[] = [
  { kind: 'agent', id: 'agent-1' },
  { kind: 'agent', id: 'agent-2' },
]
export const WORKERS: readonly Principal[] = [
  { kind: 'worker', id: 'worker-1' },
  { kind: 'worker', id: 'worker-2' },
]
export const KEYS = ['one', 'two']

/** Counted from the newest, which is what most of a run should be about. */
const nth = fc.nat({ max: 5 })
const agent = fc.constantFrom(...AGENTS)
const worker = fc.constantFrom(...WORKERS)

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (index % list.length)]
}

/** Only what was asked for. */
function brief(wanted: object): string {
  const said = Object.entries(wanted).filter(
    ([, value]) => value !== null && value !== 0 && !(Array.isArray(value) && value.length === 0),
  )
  return said.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ')
}

const definition = fc.record({
  type: fc.constantFrom('a', 'b'),
  capabilities: fc.constantFrom([], [], ['GPU'], ['gpu', 'net']),
  tags: fc.constantFrom([], ['red']),
  priority: fc.nat({ max: 2 }),
  maxAttempts: fc.constantFrom(null, 1, 2),
  retryBackoffSeconds: fc.constantFrom(null, 0, 5),
  maxExpiries: fc.constantFrom(null, 0, 1),
  concurrencyKey: fc.constantFrom(null, ...KEYS),
  timeoutSeconds: fc.constantFrom(null, null, 5, 30),
  delaySeconds: fc.constantFrom(null, null, null, null, 0, 3, 20),
  onDependencyFailure: fc.constantFrom('cancel', 'run'),
  idempotencyKey: fc.constantFrom(null, null, null, null, null, null, 'k1', 'k2'),
})

const create = fc
  .record({
    by: agent,
    wanted: definition,
    deadlineSeconds: fc.constantFrom(null, null, null, null, null, 5, 40),
    dependsOn: fc.constantFrom<number[]>([], [], [], [], [], [], [0], [1, 3]),
    cause: fc.option(nth, { freq: 8 }),
  })
  .map(
    ({ by, wanted, deadlineSeconds, dependsOn, cause }): Step => ({
      text: `create ${brief({ ...wanted, deadlineSeconds, dependsOn, cause })} by ${by.id}`,
      commands: ({ now, tasks, receipts }) => {
        const task: Partial<NewTask> = {
          ...wanted,
          payload: { of: wanted.type },
          concurrencyLimit: wanted.concurrencyKey === 'two' ? 2 : null,
          deadlineAt: deadlineSeconds === null ? null : now + deadlineSeconds * 1_000,
          dependsOn: [...new Set(dependsOn.flatMap((index) => pick(tasks, index) ?? []))],
          causedByReceiptId: cause === null ? null : (pick(receipts, cause) ?? null),
        }
        return [{ kind: 'create', task: newTask(by, task) }]
      },
    }),
  )

const claim = fc
  .record({
    by: worker,
    able: fc.constantFrom(['gpu', 'net'], ['gpu', 'net'], ['gpu', 'net'], ['gpu'], []),
    acceptTypes: fc.constantFrom(null, null, null, null, ['a'], ['b', 'c']),
    preferredTypes: fc.constantFrom([], ['b']),
    maxTasks: fc.integer({ min: 1, max: 4 }),
    ttlSeconds: fc.constantFrom(null, 1, 15, 30, 9_999),
    capacity: fc.constantFrom(null, null, 1, 2),
  })
  .map(
    ({ by, able, ...wanted }): Step => ({
      text: `claim ${brief({ able, ...wanted })} by ${by.id}`,
      commands: () => [claimOf(by, { capabilities: able, ...wanted })],
    }),
  )

const REPORTS = ['start', 'progress', 'renew', 'release', 'complete', 'fail'] as const

const report = fc
  .record({
    lease: nth,
    kind: fc.constantFrom(...REPORTS, 'complete', 'fail'),
    /** Somebody else tries. */
    stolen: fc.constantFrom(false, false, false, true),
    variant: fc.nat({ max: 3 }),
  })
  .map(
    ({ lease, kind, stolen, variant }): Step => ({
      text: `${kind} lease ${lease}${stolen ? ' (stolen)' : ''} variant ${variant}`,
      commands: ({ leases }) => {
        const holding = pick(leases, lease)
        if (holding === undefined) return []
        const by = stolen ? WORKERS.find(({ id }) => id !== holding.worker.id)! : holding.worker
        return [reportOf({ ...holding, worker: by }, { kind, variant })]
      },
    }),
  )

function reportOf(
  holding: Holding,
  { kind, variant }: { kind: (typeof REPORTS)[number]; variant: number },
): LeaseCommand {
  switch (kind) {
    case 'start':
      return { kind, ...holding }
    case 'progress':
      return { kind, ...holding, progress: { percent: variant, message: 'é🙂' } }
    case 'renew':
      return { kind, ...holding, extendBySeconds: [null, 1, 30, 9_999][variant]! }
    case 'release':
      return { kind, ...holding, reason: variant === 0 ? null : 'no' }
    case 'fail':
      return failOf(holding, { retryable: variant !== 0, retryAfterSeconds: [null, null, 0, 7][variant]! })
    case 'complete':
      return completeOf(holding, {
        result: { answer: 42, deep: [{ n: 1.5, text: '\u2028' }, null] },
        storeResult: variant === 1,
        artifacts: variant === 2 ? [{ type: 'file', path: '/a' }] : [],
        deliveryProof: variant === 3 ? { mode: 'http', status: 'ok' } : null,
      })
  }
}

const onTask = fc
  .record({
    kind: fc.constantFrom('cancel', 'retry', 'attach'),
    task: nth,
    by: fc.option(agent, { freq: 4 }),
  })
  .map(
    ({ kind, task, by }): Step => ({
      text: `${kind} task ${task}${by === null ? '' : ` by ${by.id}`}`,
      commands: ({ tasks }) => {
        const taskId = pick(tasks, task)
        if (taskId === undefined) return []
        const actor: Actor =
          by === null ? { principal: AGENTS[0]!, sees: 'all' } : { principal: by, sees: 'own' }
        if (kind === 'cancel') return [{ kind, actor, taskId, reason: 'enough' }]
        if (kind === 'retry') return [{ kind, actor, taskId }]
        return [{ kind: 'attach', actor, taskId, artifacts: [{ type: 'file', url: 'https://example.test' }] }]
      },
    }),
  )

const onLedger = fc
  .record({
    kind: fc.constantFrom('ack', 'note', 'schedule', 'unschedule', 'greet'),
    // Few, so that some are named again.
    receipt: fc.nat({ max: 3 }),
    by: agent,
  })
  .map(
    ({ kind, receipt, by }): Step => ({
      text: `${kind} receipt ${receipt} by ${by.id}`,
      commands: ({ receipts }) => {
        if (kind === 'greet')
          return [{ kind, principal: by, instanceId: receipt % 2 === 0 ? null : `i${receipt}` }]
        const receiptId = pick(receipts, receipt)
        if (receiptId === undefined) return []
        if (kind === 'ack') return [{ kind, actor: { principal: by, sees: 'own' }, receiptId }]
        const about = {
          kind: 'submitReceipt',
          from: by,
          to: AGENTS[0]!,
          taskId: null,
          body: { n: 1 },
        } as const
        if (kind === 'note')
          return [{ ...about, receiptType: 'x.note', scheduleId: null, parents: [receiptId] }]
        const parents = kind === 'schedule' ? [] : [receiptId]
        const receiptType = kind === 'schedule' ? 'schedule.created' : 'schedule.deleted'
        return [{ ...about, receiptType, scheduleId: 's1', parents }]
      },
    }),
  )

/** Commands of one commit, as group commit and settle make them. */
export const together = fc
  .array(fc.oneof(create, { arbitrary: report, weight: 3 }, onTask, claim), { minLength: 2, maxLength: 5 })
  .map(
    (steps): Step => ({
      text: `together: ${steps.map(({ text }) => text).join(' + ')}`,
      commands: (known) => steps.flatMap(({ commands }) => commands(known)),
    }),
  )

export const single = fc.oneof(
  { arbitrary: create, weight: 8 },
  { arbitrary: claim, weight: 8 },
  { arbitrary: report, weight: 8 },
  { arbitrary: onTask, weight: 2 },
  { arbitrary: onLedger, weight: 2 },
)

export const passing = fc.constantFrom(
  1,
  500,
  999,
  2_000,
  3_000,
  8_000,
  12_000,
  20_000,
  60_000,
  25 * 3_600_000,
)
