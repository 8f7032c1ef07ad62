// Everything that takes part in a run: one database, several instances before it, agents and workers around them, and the
// witness. All time and all chance come from here.
import { decideBatch } from '../../src/engine/decide/index.ts'
import type { Policy } from '../../src/engine/policy.ts'
import type { Unit } from '../../src/engine/unit.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'
import { type Agent, createAgent } from './agent.ts'
import { type Chance, createChance } from './chance.ts'
import { createInstance, type Instance, type InstanceParts } from './instance.ts'
import { createNetwork, type Network } from './network.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { simulatedPolicy } from './policy.ts'
import { createStateReader } from './state.ts'
import { createDiary, type Diary } from './violation.ts'
import { createWire, type Life, type Wire } from './wire.ts'
import { type Commit, createWitness, type Witness } from './witness.ts'
import { createWorker, type Worker } from './worker.ts'

export const TENANT = 'tenant'
export const SKEW_MS_MAX = 2_000
export const SWEEP_MS = 10_000
const INSTANCES = 3
const AGENTS = 2
const WORKERS = 4

export interface World {
  readonly chance: Chance
  readonly diary: Diary
  readonly time: VirtualClock
  readonly policy: Policy
  readonly wire: Wire
  readonly network: Network
  readonly witness: Witness
  readonly instances: readonly Instance[]
  readonly instanceParts: InstanceParts
  readonly agents: readonly Agent[]
  readonly workers: readonly Worker[]
  /** What went wrong where nobody waits for an answer. */
  readonly defects: unknown[]
}

export interface WorldOptions {
  readonly seed: number
  readonly steps: number
  readonly bug: PlantedBug | null
}

export async function createWorld({ seed, steps, bug }: WorldOptions): Promise<World> {
  const chance = createChance(seed)
  const diary = createDiary({ seed, steps })
  const time = createVirtualClock()
  const policy = simulatedPolicy(chance)
  const agents = Array.from({ length: AGENTS }, (_, index) => createAgent(`agent-${index + 1}`))
  const workers = Array.from({ length: WORKERS }, (_, index) => createWorker(`worker-${index + 1}`, chance))
  const database = bug?.database?.(createMemoryStore()) ?? createMemoryStore()
  const defects: unknown[] = []
  const witness = await createWitness({
    read: createStateReader(database, {
      tenantId: TENANT,
      principals: agents.map(({ principal }) => principal),
    }),
    diary,
    limits: { capacities: capacitiesOf(workers), tenantLeasesMax: policy.claim.maxConcurrentLeases },
    skewMs: SKEW_MS_MAX,
    trueNow: () => time.now(),
  })

  const decisions = new Map<Life, Omit<Commit, 'changes'>>()
  async function transact<T>(unit: Unit<T>, life: Life): Promise<T> {
    let commit: Commit | null = null
    const result = await database.transact({
      ...unit,
      decide: (snapshot) => {
        const decision = unit.decide(snapshot)
        const changes = bug?.changes?.(decision.changes) ?? decision.changes
        commit = { ...decisions.get(life)!, changes }
        return { ...decision, changes }
      },
    })
    if (commit !== null) await witness.committed(commit)
    return result
  }

  const wire = createWire({ database, transact: bug?.transact?.(transact, chance) ?? transact, chance })
  const onDefect = (error: unknown) => defects.push(error)
  const instanceParts: InstanceParts = {
    wire,
    time,
    chance,
    policy,
    sweepMs: SWEEP_MS,
    skewMsMax: SKEW_MS_MAX,
    decide: (life, now) => (snapshot, commands, context) => {
      const decision = decideBatch(bug?.snapshot?.(snapshot, commands) ?? snapshot, commands, context)
      decisions.set(life, { commands, results: decision.result, instanceNow: now() })
      return decision
    },
    ...(bug?.instance === undefined ? {} : { store: bug.instance }),
    onError: onDefect,
  }
  const network = createNetwork({
    tenantId: TENANT,
    chance,
    diary,
    onReply: ({ commands }, results) => {
      for (const [index, result] of results.entries()) witness.acknowledged.add(commands[index]!, result)
    },
    onDefect,
  })
  const instances = Array.from({ length: INSTANCES }, (_, index) =>
    createInstance(`server-${index + 1}`, instanceParts),
  )
  return {
    chance,
    diary,
    time,
    policy,
    wire,
    network,
    witness,
    instances,
    instanceParts,
    agents,
    workers,
    defects,
  }
}

function capacitiesOf(workers: readonly Worker[]): Map<string, number> {
  return new Map(
    workers.flatMap(({ principal, capacity }) => (capacity === null ? [] : [[principal.id, capacity]])),
  )
}

/** Everything here is promises and a virtual clock, so one turn of the event loop lets all of it come to rest. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
