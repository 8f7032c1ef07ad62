// One run: a seed, so many steps of anything that can happen, invariants after every one; then the faults stop, and the gate
// must heal by itself.
import { GateError } from '@asyncgate/sdk'
import { ACTIONS, chooseAction } from './actions.ts'
import { heal } from './healing.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { Violation } from './violation.ts'
import { createWorld, settled, type World } from './world.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly steps?: number
  /** A test of the test: the run must find it. */
  readonly bug?: PlantedBug
}

export interface Summary {
  readonly seed: number
  readonly steps: number
  readonly tasks: number
  readonly receipts: number
  readonly acknowledged: number
  /** How often what happened: commands, faults, actions, outcomes. */
  readonly counts: ReadonlyMap<string, number>
}

export const STEPS_DEFAULT = 300
/** Hints between instances get lost this often, in percent. */
const LOST_HINTS = 30

export async function runSimulation({
  seed,
  steps = STEPS_DEFAULT,
  bug,
}: SimulationOptions): Promise<Summary> {
  const world = await createWorld({ seed, steps, bug: bug ?? null })
  const { diary, witness } = world
  world.wire.losesHints = LOST_HINTS
  try {
    for (let step = 1; step <= steps; step++) {
      diary.step(step)
      const action = chooseAction(world)
      diary.count(`action ${action}`)
      await ACTIONS[action].run(world)
      await settled()
      examine(world)
    }
    diary.step(steps + 1)
    await heal(world, () => examine(world))
    await witness.checkAll()
  } catch (error) {
    throw error instanceof Violation ? error : diary.violation([`a defect: ${String(error)}`], error)
  }
  countOutcomes(world)
  return {
    seed,
    steps,
    tasks: witness.state.tasks.size,
    receipts: witness.state.ledger.length,
    acknowledged: witness.acknowledged.count,
    counts: diary.counts,
  }
}

function examine({ witness, defects }: World): void {
  const defect = defects.find(
    (error) => !(error instanceof GateError && error.code === 'database_unavailable'),
  )
  if (defect !== undefined) throw defect
  witness.check()
}

/** So that a reader, and a test, can see that a run met what it is there to meet. */
function countOutcomes({ witness, diary }: World): void {
  for (const { state } of witness.state.tasks.values()) {
    diary.count(`ended ${state.status}`)
    const { code } = (state.result?.error ?? {}) as { code?: string } // every error of the gate and of workers has one
    if (code !== undefined) diary.count(`because ${code}`)
  }
  for (const { end } of witness.leases.values()) diary.count(`lease ${end ?? 'active'}`)
  for (const { receipt } of witness.state.ledger) {
    const kind = receipt.receiptType === 'system.anomaly' ? ` ${String(receipt.body['kind'])}` : ''
    diary.count(`receipt ${receipt.receiptType}${kind}`)
  }
}
