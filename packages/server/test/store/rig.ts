// What the store tests work with: commands run through `transact` with the production engine, on a clock that
// the test moves and ids that follow from a seed. Each rig has a tenant of its own, so that tests share a
// database without seeing each other.
import type { ClaimCommand, Command, NewTask } from '../../src/engine/command.ts'
import { type Claimed, decideBatch, type Grant, type Result } from '../../src/engine/decide/index.ts'
import type { Principal } from '../../src/engine/model.ts'
import { needsOf } from '../../src/engine/needs.ts'
import type { Policy } from '../../src/engine/policy.ts'
import { createIds } from '../../src/ids.ts'
import type { ReceiptQuery, Store, TaskQuery } from '../../src/store/port.ts'
import { createSeededRandom } from '../seeded-random.ts'

export const AGENT: Principal = { kind: 'agent', id: 'ada' }
export const WORKER: Principal = { kind: 'worker', id: 'w1' }

export const POLICY: Policy = {
  lease: {
    defaultTtlSeconds: 300,
    minTtlSeconds: 10,
    maxTtlSeconds: 1_800,
    requeueJitterSeconds: 5,
    maxRenewals: 0,
    maxLifetimeSeconds: 0,
  },
  retry: { maxAttempts: 3, backoffSeconds: 30, backoffCapSeconds: 900, maxExpiries: 20 },
  task: { maxPayloadBytes: 1_048_576, maxActive: 0 },
  receipts: { maxBodyBytes: 65_536, maxParents: 10, maxArtifacts: 100, locatability: 'lenient' },
  claim: { maxTasks: 1_000, maxConcurrentLeases: 0 },
}

export interface Made {
  readonly taskId: string
  readonly status: string
  readonly isDuplicate: boolean
  readonly receiptId: string
}

export interface Rig {
  readonly store: Store
  readonly tenantId: string
  now(): number
  pass(ms: number): void
  /** All in one transaction. */
  run(commands: readonly Command[], on?: Store): Promise<readonly Result[]>
  /** One command; throws its refusal. */
  ask<R>(command: Command, on?: Store): Promise<R>
  create(over?: Partial<NewTask>, on?: Store): Promise<Made>
  claim(over?: ClaimOptions, on?: Store): Promise<readonly Grant[]>
  /** The summaries of what a claim was given, in its order. */
  claimed(over?: ClaimOptions): Promise<(string | null)[]>
  tasks(over?: Partial<TaskQuery>): Promise<(string | null)[]>
  receipts(over?: Partial<ReceiptQuery>): Promise<string[]>
}

export interface ClaimOptions {
  readonly worker?: Principal
  readonly capabilities?: readonly string[]
  readonly types?: readonly string[]
  readonly preferred?: readonly string[]
  readonly max?: number
  readonly ttlSeconds?: number
  readonly capacity?: number
}

let rigs = 0

export function createRig(
  store: Store,
  { policy = POLICY, seed = 1, ...of }: { policy?: Policy; seed?: number; tenantId?: string } = {},
): Rig {
  const tenantId = of.tenantId ?? `tenant ${process.pid} ${++rigs}`
  let now = Date.UTC(2026, 0, 1)
  const random = createSeededRandom(seed * 1_000 + rigs)
  const ids = createIds({ clock: { now: () => now, after: () => () => {} }, random })

  const rig: Rig = {
    store,
    tenantId,
    now: () => now,
    pass: (ms) => {
      now += ms
    },
    run: (commands, on = store) =>
      on.transact({
        tenantId,
        now,
        needs: needsOf(commands, policy),
        decide: (snapshot) =>
          decideBatch(snapshot, commands, { tenantId, now, ids, random, policy, instance: 'test' }),
      }),
    ask: async <R>(command: Command, on?: Store) => {
      const [result] = await rig.run([command], on)
      if (!result!.ok) throw result!.error
      return result!.reply as R
    },
    create: (over, on) => rig.ask<Made>({ kind: 'create', task: newTask(over) }, on),
    claim: async (over, on) => (await rig.ask<Claimed>(claimCommand(over), on)).grants,
    claimed: async (over) => (await rig.claim(over)).map(({ task }) => task.definition.summary),
    tasks: async (over) =>
      (await store.listTasks({ ...EVERY_TASK, tenantId, ...over })).map(
        ({ definition }) => definition.summary,
      ),
    receipts: async (over) =>
      (await store.listReceipts({ ...EVERY_RECEIPT, tenantId, ...over })).map(
        ({ receipt }) => receipt.receiptType,
      ),
  }
  return rig
}

export const EVERY_TASK: Omit<TaskQuery, 'tenantId'> = {
  status: null,
  type: null,
  createdBy: null,
  concerning: null,
  deadLetter: null,
  tag: null,
  createdFrom: null,
  createdBefore: null,
  before: null,
  limit: 1_000,
}

export const EVERY_RECEIPT: Omit<ReceiptQuery, 'tenantId'> = {
  to: { kind: null, id: null },
  from: { kind: null, id: null },
  concerning: null,
  taskId: null,
  receiptType: null,
  after: null,
  limit: 10_000,
}

export function newTask(over: Partial<NewTask> = {}): NewTask {
  return {
    type: 'echo',
    payload: {},
    payloadPointer: null,
    summary: null,
    createdBy: AGENT,
    recipient: AGENT,
    capabilities: [],
    tags: [],
    priority: 0,
    maxAttempts: null,
    retryBackoffSeconds: null,
    maxExpiries: null,
    idempotencyKey: null,
    parentTaskId: null,
    causedByReceiptId: null,
    concurrencyKey: null,
    concurrencyLimit: null,
    timeoutSeconds: null,
    deadlineAt: null,
    delaySeconds: null,
    notBefore: null,
    dependsOn: [],
    onDependencyFailure: 'cancel',
    expectedOutcomeKind: null,
    expectedArtifactMime: null,
    successCriteria: null,
    resultDelivery: null,
    metadata: {},
    ...over,
  }
}

export function claimCommand(over: ClaimOptions = {}): ClaimCommand {
  return {
    kind: 'claim',
    worker: over.worker ?? WORKER,
    filter: {
      capabilities: (over.capabilities ?? []).toSorted(),
      acceptTypes: over.types ?? null,
      preferredTypes: over.preferred ?? [],
    },
    maxTasks: over.max ?? 1_000,
    ttlSeconds: over.ttlSeconds ?? null,
    capacity: over.capacity ?? null,
  }
}

export function holding({ lease }: Grant) {
  return { worker: lease.worker, taskId: lease.taskId, leaseId: lease.leaseId }
}

export function complete(grant: Grant): Command {
  return {
    kind: 'complete',
    ...holding(grant),
    result: { done: true },
    resultSummary: null,
    artifacts: [],
    deliveryProof: null,
    storeResult: true,
    completionMetadata: null,
  }
}

export function fail(grant: Grant, over: { retryable?: boolean } = {}): Command {
  return {
    kind: 'fail',
    ...holding(grant),
    error: { code: 'broken' },
    retryable: over.retryable ?? true,
    retryAfterSeconds: null,
  }
}
