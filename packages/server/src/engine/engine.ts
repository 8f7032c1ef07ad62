// The engine: commands in, durable outcomes out. It batches, decides, commits, and tells who waits.
import { GateError } from '@asyncgate/sdk'
import type { Clock } from '../clock.ts'
import type { Ids, Random } from '../ids.ts'
import { createBatcher } from './batcher.ts'
import type { ClaimCommand, Command } from './command.ts'
import { type Claimed, decideBatch, type Grant, type Result } from './decide/index.ts'
import type { Wanted } from './matching.ts'
import { isTerminal } from './model.ts'
import { needsOf } from './needs.ts'
import type { Policy } from './policy.ts'
import { type Changes, type Hint, makesReady, tasksAfter, type Transactor, type Unit } from './unit.ts'
import { createWaitingClaims } from './waiting-claims.ts'
import { createWaitingReads, type WaitingReads } from './waiting-reads.ts'

/** Any number of tasks may depend on one; a commit is kept short all the same. */
const DEPENDENTS_PER_COMMIT_MAX = 500
/** Dependents of dependents, and so on: this far they are moved before the answer; the rest of a long chain follows it. */
const GENERATIONS_BEFORE_ANSWER_MAX = 10

/** What the engine asks of a store beyond the transaction itself. */
export interface EngineStore extends Transactor {
  readonly commitsAtOnce: number
  /** Nobody else makes anything ready in this store, as far as is known. */
  isAlone(): boolean
  dependentsOf(
    tenantId: string,
    taskIds: readonly string[],
  ): Promise<readonly { readonly taskId: string; readonly dependsOn: readonly string[] }[]>
  nextEligibleAt(tenantId: string): Promise<number | null>
  hint(hint: Hint): void
  onHint(listener: (hint: Hint) => void): () => void
}

export interface Committed {
  readonly tenantId: string
  readonly commands: readonly Command[]
  readonly changes: Changes
  readonly durationMs: number
}

export interface EngineParts {
  readonly store: EngineStore
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  readonly policy: Policy
  /** What a tenant is held to; default `policy`. */
  readonly policyOf?: (tenantId: string) => Policy | Promise<Policy>
  readonly instance: string
  /** How a batch is decided; the simulation watches here, and plants its bugs. */
  readonly decide?: typeof decideBatch
  /** Lets in what has arrived, before a batch is cut. */
  readonly gather?: () => Promise<void>
  readonly onCommitted?: (event: Committed) => void
  /** Something went wrong that no caller waits for; the sweep heals it. */
  readonly onError: (error: unknown) => void
}

export interface Engine {
  /** All in one durable commit; each succeeds or fails alone. */
  execute(tenantId: string, commands: readonly Command[]): Promise<readonly Result[]>
  /** One command; throws its refusal. */
  run<R>(tenantId: string, command: Command): Promise<R>
  claim(
    tenantId: string,
    command: ClaimCommand,
    options: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<readonly Grant[]>
  /** What was granted to somebody who has gone meanwhile, for others to take. */
  giveBack(tenantId: string, grants: readonly Grant[]): Promise<void>
  readonly reads: Pick<WaitingReads, 'untilWorthALook'>
  waitingClaims(): number
  /** No more waiting; what was accepted is committed and answered. */
  stop(): Promise<void>
}

export function createEngine(parts: EngineParts): Engine {
  const { store, clock, onError } = parts
  let stopping = false
  const batcher = createBatcher(commit, { gather: parts.gather, commitsAtOnce: store.commitsAtOnce })
  const reads = createWaitingReads(clock)
  const claims = createWaitingClaims({
    attempt: async (tenantId, commands) => (await batcher.submit(tenantId, commands)).map(claimedOf),
    giveBack,
    nextEligibleAt: (tenantId) => store.nextEligibleAt(tenantId),
    clock,
    onError,
  })
  const unsubscribe = store.onHint(({ tenantId, ready, delayed, ended }) => {
    if (ready || delayed) claims.wake(tenantId, delayed)
    if (ended) reads.endedElsewhere(tenantId)
  })

  async function commit(tenantId: string, commands: readonly Command[]): Promise<readonly Result[]> {
    const ride = claims.ride(tenantId, commands.flatMap(comingReady))
    if (ride === null) return commitAll(tenantId, commands)
    let claimed: readonly Claimed[] = []
    try {
      // Before the others' claims: they have waited longest.
      const results = await commitAll(tenantId, [...ride.commands, ...commands])
      claimed = results.slice(0, ride.commands.length).map(claimedOrNothing)
      return results.slice(ride.commands.length)
    } catch (error) {
      // A defect may be that of a claim: those who ask for something are not to suffer from who rides with them.
      if (error instanceof GateError) throw error
      onError(error)
      return await commitAll(tenantId, commands)
    } finally {
      ride.end(claimed)
    }
  }

  /** It is committed: whoever else was in the commit must not hear of the refusal of a claim. */
  function claimedOrNothing(result: Result): Claimed {
    if (result.ok) return claimedOf(result)
    onError(result.error)
    return { grants: [], again: false }
  }

  async function commitAll(tenantId: string, commands: readonly Command[]): Promise<readonly Result[]> {
    const look = claims.look(tenantId, commands, store.isAlone())
    const { results, changes } = await transact(tenantId, look.commands)
    look.end(results)
    await resolveDependents(tenantId, changes.endedDependencies)
    return results
  }

  async function transact(tenantId: string, commands: readonly Command[]) {
    const startedAt = clock.now()
    const { ids, random, instance, decide = decideBatch } = parts
    const found = parts.policyOf?.(tenantId) ?? parts.policy
    const policy = found instanceof Promise ? await found : found
    const { results, changes, promoted } = await committing(tenantId, {
      tenantId,
      now: startedAt,
      needs: needsOf(commands, policy),
      decide: (snapshot) => {
        // Read here, behind any wait for locks: a lease must not look alive because of it.
        const context = { tenantId, now: clock.now(), ids, random, policy, instance }
        const { changes: decided, result, mustKnowKeys = false } = decide(snapshot, commands, context)
        const { promoted } = snapshot
        return { changes: decided, result: { results: result, changes: decided, promoted }, mustKnowKeys }
      },
    })
    try {
      // First, since somebody waits for it.
      tell(tenantId, changes, promoted)
      parts.onCommitted?.({ tenantId, commands, changes, durationMs: clock.now() - startedAt })
    } catch (error) {
      // It is committed: nothing that goes wrong from here on may look as if it were not.
      onError(error)
    }
    return { results, changes }
  }

  /** Where nobody can say what became of it, something may have become ready. */
  async function committing<T>(tenantId: string, unit: Unit<T>): Promise<T> {
    try {
      return await store.transact(unit)
    } catch (error) {
      claims.doubt(tenantId)
      throw error
    }
  }

  function tell(tenantId: string, changes: Changes, promoted: ReadonlySet<string>): void {
    const after = tasksAfter(changes)
    const ready = makesReady(changes) || areLeft(promoted, changes)
    const delayed = after.some(({ state }) => state.place === 'delayed')
    const ended = after
      .filter(({ state }) => isTerminal(state.status))
      .map(({ definition }) => definition.taskId)
    if (ready || delayed) claims.wake(tenantId, delayed)
    if (ended.length > 0) reads.ended(tenantId, ended)
    if (ready || delayed || ended.length > 0)
      store.hint({ tenantId, ready, delayed, ended: ended.length > 0 })
  }

  /**
   * Before the answer goes out, so that whoever ended a task finds its dependents moved. What would take long goes in
   * commits of its own after it, with others in between. The sweep heals a failure.
   */
  async function resolveDependents(tenantId: string, ended: readonly string[]): Promise<void> {
    try {
      let open = ended
      for (let generation = 0; open.length > 0; generation += 1) {
        const commands = (await store.dependentsOf(tenantId, open)).map(resolution)
        const isSoon = generation < GENERATIONS_BEFORE_ANSWER_MAX
        const now = isSoon ? commands.slice(0, DEPENDENTS_PER_COMMIT_MAX) : []
        resolveLater(tenantId, commands.slice(now.length))
        open = now.length === 0 ? [] : (await transact(tenantId, now)).changes.endedDependencies
      }
    } catch (error) {
      onError(error)
    }
  }

  function resolveLater(tenantId: string, commands: readonly Command[]): void {
    if (stopping) return
    for (let start = 0; start < commands.length; start += DEPENDENTS_PER_COMMIT_MAX) {
      batcher.submit(tenantId, commands.slice(start, start + DEPENDENTS_PER_COMMIT_MAX)).catch(onError)
    }
  }

  async function giveBack(tenantId: string, grants: readonly Grant[]): Promise<void> {
    if (grants.length === 0) return
    await batcher.submit(
      tenantId,
      grants.map(({ lease }) => ({
        kind: 'release',
        worker: lease.worker,
        taskId: lease.taskId,
        leaseId: lease.leaseId,
        reason: 'the claimer had gone',
      })),
    )
  }

  return {
    execute: (tenantId, commands) => batcher.submit(tenantId, commands),
    run: async <R>(tenantId: string, command: Command) => {
      const [result] = await batcher.submit(tenantId, [command])
      if (result === undefined) throw new Error('a command without a result')
      if (!result.ok) throw result.error
      return result.reply as R // each command's decision fixes its reply
    },
    claim: async (tenantId, command, options) => {
      const grants = await claims.claim(tenantId, command, options)
      if (!options.signal.aborted) return grants
      await giveBack(tenantId, grants)
      return []
    },
    giveBack,
    reads,
    waitingClaims: () => claims.count(),
    stop: async () => {
      stopping = true
      unsubscribe()
      claims.stop()
      reads.stop()
      await batcher.idle()
    },
  }
}

/** What a command will make ready in its own commit, as far as can be told before. */
function comingReady(command: Command): readonly Wanted[] {
  if (command.kind !== 'create') return []
  const { type, capabilities, delaySeconds, notBefore, dependsOn } = command.task
  const isLater = delaySeconds !== null || notBefore !== null || dependsOn.length > 0
  return isLater ? [] : [{ type, capabilities }]
}

/** They may be for others than those whose claim came first after their delay. */
function areLeft(promoted: ReadonlySet<string>, { changedTasks }: Changes): boolean {
  if (promoted.size === 0) return false
  const changed = new Set(changedTasks.map(({ after }) => after.definition.taskId))
  return [...promoted].some((taskId) => !changed.has(taskId))
}

function resolution({ taskId, dependsOn }: { taskId: string; dependsOn: readonly string[] }): Command {
  return { kind: 'resolve', taskId, dependsOn }
}

function claimedOf(result: Result): Claimed {
  if (!result.ok) throw result.error
  return result.reply as Claimed // the reply of a claim
}
