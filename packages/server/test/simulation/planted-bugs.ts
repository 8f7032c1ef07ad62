// A test of the test: variants of the gate that are wrong in one way each. They are planted at seams (what a decision sees, what
// a commit writes, how a transaction runs, what an instance gets from the store), so that production code has none of it.
import type { Clock } from '../../src/clock.ts'
import type { Command } from '../../src/engine/command.ts'
import { isTerminal, type Receipt } from '../../src/engine/model.ts'
import type { Changes, Snapshot } from '../../src/engine/unit.ts'
import type { Store } from '../../src/store/port.ts'
import type { Chance } from './chance.ts'
import { NO_CHANGES } from '../no-changes.ts'
import {
  alive,
  answerAndLose,
  at,
  changeTasks,
  isResultReady,
  named,
  withLeases,
  withTasks,
} from './planting.ts'
import type { InstanceStore, Transact } from './wire.ts'

export interface PlantedBug {
  /** What the violation must say: caught by chance is not caught. */
  readonly caughtAs: RegExp
  readonly snapshot?: (snapshot: Snapshot, commands: readonly Command[]) => Snapshot
  readonly changes?: (changes: Changes) => Changes
  readonly transact?: (transact: Transact, chance: Chance) => Transact
  readonly instance?: (store: InstanceStore, clock: Clock) => InstanceStore
  readonly database?: (database: Store) => Store
}

const HELD = ['start', 'progress', 'renew', 'release', 'complete', 'fail'] as const

/** Each is made anew for each run, since some remember. */
export const PLANTED_BUGS: Readonly<Record<string, () => PlantedBug>> = {
  'the lease check is skipped': () => ({
    caughtAs: /was allowed/,
    snapshot: (snapshot, commands) => withLeases(snapshot, named(commands, ...HELD), alive),
  }),
  'success is answered before the commit': () => ({
    caughtAs: /acknowledged, and lost|was allowed without/,
    transact: (transact, chance) => (unit, life) =>
      chance.percent(10) ? answerAndLose(transact, unit, life) : transact(unit, life),
  }),
  'expiry is decided by the start of the transaction': () => ({
    caughtAs: /after the lease had expired|after its deadline/,
    instance: (store, clock) => ({
      ...store,
      transact: (unit) =>
        store.transact({ ...unit, decide: (snapshot) => at(clock, unit.now, () => unit.decide(snapshot)) }),
    }),
  }),
  'result_ready comes in a second transaction': () => ({
    caughtAs: /wrote 0 × task.result_ready/,
    transact: (transact) => async (unit, life) => {
      let late: readonly Receipt[] = []
      const result = await transact(
        {
          ...unit,
          decide: (snapshot) => {
            const { changes, ...decision } = unit.decide(snapshot)
            late = changes.receipts.filter(isResultReady)
            const receipts = changes.receipts.filter((receipt) => !isResultReady(receipt))
            return { ...decision, changes: { ...changes, receipts } }
          },
        },
        life,
      )
      if (late.length > 0) {
        const decide = () => ({ changes: { ...NO_CHANGES, receipts: late }, result })
        await transact({ ...unit, decide }, life)
      }
      return result
    },
  }),
  'a lost lease counts an attempt': () => ({
    caughtAs: /attempts, its receipts show/,
    changes: (changes) =>
      changeTasks(changes, ({ before, after }) => {
        const lost = after.state.expiries > before.state.expiries
        return { ...after.state, attempt: after.state.attempt + Number(lost) }
      }),
  }),
  'a settlement is not remembered': () => ({
    caughtAs: /(complete|fail|release) again .* was (refused|not already_settled)/,
    snapshot: (snapshot) =>
      withLeases(
        snapshot,
        () => true,
        (lease) => ({ ...lease, settlement: null }),
      ),
  }),
  'complete can be carried out twice': () => ({
    caughtAs: /ended 2 times|was succeeded and changed|complete again/,
    snapshot: (snapshot, commands) => {
      const again = named(commands, 'complete')
      const done = [...snapshot.leases.values()].filter((lease) => again(lease) && lease.end === 'completed')
      const tasks = new Set(done.map(({ taskId }) => taskId))
      const revived = withLeases(
        snapshot,
        (lease) => done.includes(lease),
        (lease) => ({ ...alive(lease), settlement: null }),
      )
      return withTasks(revived, tasks, 'running')
    },
  }),
  'the sweep does not check again under the lock': () => ({
    caughtAs: /was ended \(expired\) .* too early/,
    snapshot: (snapshot, commands) =>
      withLeases(snapshot, named(commands, 'expire'), (lease) => ({
        ...lease,
        expiresAt: 0,
      })),
  }),
  'idempotency keys are ignored': () => ({
    caughtAs: /the same idempotency key|(create|retry) again/,
    snapshot: (snapshot) => ({ ...snapshot, idempotent: new Map() }),
    changes: (changes) => ({
      ...changes,
      createdTasks: changes.createdTasks.map((task) => ({
        ...task,
        definition: { ...task.definition, idempotencyHash: null },
      })),
    }),
  }),
  'the fence does not grow': () => ({
    caughtAs: /fence/,
    changes: (changes) => ({
      ...changeTasks(changes, ({ before, after }) => ({ ...after.state, fence: before.state.fence })),
      grantedLeases: changes.grantedLeases.map((lease) => ({ ...lease, fence: lease.fence - 1 })),
    }),
  }),
  'dependents are never resolved': () => ({
    caughtAs: /waits for dependencies that have ended|did not come to an end/,
    instance: (store) => ({ ...store, dependentsOf: async () => [], dueDependents: async () => [] }),
  }),
  'the limit of a concurrency key is ignored': () => ({
    caughtAs: /whose limit is/,
    snapshot: (snapshot) => ({ ...snapshot, activeByKey: new Map() }),
  }),
  'the capacity of a worker is ignored': () => ({
    caughtAs: /its capacity is/,
    snapshot: (snapshot) => ({ ...snapshot, activeByWorker: new Map() }),
  }),
  'the lease limit of a tenant is ignored': () => ({
    caughtAs: /the tenant may have/,
    snapshot: (snapshot) => ({ ...snapshot, activeOfTenant: 0 }),
  }),
  'delayed tasks are leased early': () => ({
    caughtAs: /before its time/,
    transact: (transact) => (unit, life) => transact({ ...unit, now: unit.now + 30_000 }, life),
  }),
  'a terminal task can be canceled': () => ({
    caughtAs: /ended 2 times|and changed to/,
    snapshot: (snapshot, commands) =>
      withTasks(
        snapshot,
        new Set(commands.flatMap((command) => (command.kind === 'cancel' ? command.taskId : []))),
        'queued',
      ),
  }),
  'a ledger entry is rewritten': () => {
    const seen: Receipt[] = []
    return {
      caughtAs: /was rewritten/,
      changes: (changes) => {
        seen.push(...changes.receipts)
        if (seen.length > 20) Object.assign(seen[3]!, { createdAt: 0 })
        return changes
      },
    }
  },
  'a receipt is not written with its task': () => ({
    caughtAs: /receipts show|grants|task.accepted|ended 0 times|no task.assigned|lost|wrote 0/,
    changes: (changes) => ({ ...changes, receipts: changes.receipts.slice(1) }),
  }),
  'obligations are inferred from the state of the task': () => ({
    caughtAs: /is not called open, nothing discharges it/,
    database: (database) => ({
      ...database,
      openObligations: async (query) => {
        const open = await database.openObligations(query)
        const tasks = await Promise.all(
          open.map(({ receipt }) => database.readTask(receipt.tenantId, receipt.taskId ?? '')),
        )
        return open.filter((_, index) => !isTerminal(tasks[index]?.state.status ?? 'queued'))
      },
    }),
  }),
  'claims do not look at priority': () => ({
    caughtAs: /was passed over|came too late/,
    snapshot: (snapshot) => ({
      ...snapshot,
      candidates: new Map(
        [...snapshot.candidates].map(([key, { taskIds, more }]) => [
          key,
          { taskIds: taskIds.toReversed(), more },
        ]),
      ),
    }),
  }),
  'lost leases are never swept': () => ({
    caughtAs: /is still leased/,
    instance: (store) => ({ ...store, dueLeases: async () => [] }),
  }),
  'parked tasks are forgotten': () => ({
    caughtAs: /room that nobody will offer/,
    snapshot: (snapshot) => ({ ...snapshot, parked: new Map() }),
  }),
}
