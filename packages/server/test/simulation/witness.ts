// The witness stands at the database: it sees every commit, reads everything back after it, and judges.
import type { Command } from '../../src/engine/command.ts'
import type { Result } from '../../src/engine/decide/index.ts'
import type { Lease } from '../../src/engine/model.ts'
import { type Changes, isEmpty } from '../../src/engine/unit.ts'
import { type Acknowledged, createAcknowledged } from './acknowledged.ts'
import { createArchive } from './invariants/archive.ts'
import { authorityProblems } from './invariants/authority.ts'
import { endingProblems } from './invariants/endings.ts'
import { grantProblems } from './invariants/grants.ts'
import { historyProblems } from './invariants/history.ts'
import { leaseProblems } from './invariants/leases.ts'
import { limitProblems, type Limits } from './invariants/limits.ts'
import { obligationProblems } from './invariants/obligations.ts'
import { orderProblems } from './invariants/order.ts'
import { placeProblems } from './invariants/places.ts'
import { createRepetitions } from './invariants/repetitions.ts'
import { taskProblems } from './invariants/tasks.ts'
import type { Transition } from './invariants/transition.ts'
import type { State, StateReader } from './state.ts'
import type { Diary } from './violation.ts'

export interface Commit {
  readonly commands: readonly Command[]
  readonly results: readonly Result[]
  readonly changes: Changes
  readonly instanceNow: number
}

export interface Witness {
  readonly acknowledged: Acknowledged
  /** What the store said when it was last read. */
  readonly state: State
  /** Every lease that was ever granted, as it is now. */
  readonly leases: ReadonlyMap<string, Lease>
  /** Called after each commit, before anybody is answered. */
  committed(commit: Commit): Promise<void>
  /** Called after each step; throws what is wrong. */
  check(): void
  /** Called at the end: everything once more, letter by letter. */
  checkAll(): Promise<void>
}

export async function createWitness(of: {
  read: StateReader
  diary: Diary
  limits: Limits
  skewMs: number
  trueNow: () => number
}): Promise<Witness> {
  const { read, diary, limits, skewMs, trueNow } = of
  const leases = new Map<string, Lease>()
  const archive = createArchive()
  const repetitions = createRepetitions()
  const acknowledged = createAcknowledged()
  let state = await read()

  function* stateProblems(): Generator<string> {
    yield* taskProblems(state)
    yield* leaseProblems(state, leases)
    yield* obligationProblems(state)
    yield* limitProblems(state, limits)
    yield* placeProblems(state, { now: trueNow(), skewMs })
  }

  function* transitionProblems(transition: Transition): Generator<string> {
    yield* historyProblems(transition.before, transition.after)
    yield* grantProblems(transition)
    yield* orderProblems(transition)
    yield* authorityProblems(transition)
    yield* endingProblems(transition)
    yield* repetitions.problems(transition)
  }

  function judge(problems: Iterable<string>): void {
    const found = [...problems]
    if (found.length > 0) throw diary.violation(found)
  }

  return {
    acknowledged,
    get state() {
      return state
    },
    leases,
    committed: async (commit) => {
      const before = state
      const wrote = !isEmpty(commit.changes)
      if (wrote) {
        state = await read()
        judge(archive.problems(state.ledger))
      }
      judge(
        transitionProblems({
          ...commit,
          before,
          after: state,
          leases,
          trueNow: trueNow(),
          skewMs,
          limited: limits.tenantLeasesMax > 0,
        }),
      )
      for (const lease of [...commit.changes.grantedLeases, ...commit.changes.changedLeases]) {
        leases.set(lease.leaseId, lease)
      }
      if (wrote) judge(stateProblems())
    },
    check: () => judge(acknowledged.problems(state)),
    checkAll: async () => {
      state = await read()
      judge(archive.problems(state.ledger))
      judge(archive.allProblems(state.ledger))
      judge(stateProblems())
      judge(acknowledged.problems(state))
    },
  }
}
