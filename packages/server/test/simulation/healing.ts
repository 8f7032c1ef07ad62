// The end of a run: faults stop. Within the longest lease and two sweeps every task that is eligible can be claimed again; well
// behaved workers then end every task, and every obligation whose result can be found is discharged.
import { isTerminal } from '../../src/engine/model.ts'
import type { TaskView } from '../../src/store/port.ts'
import { drain, execute, rest } from './draining.ts'
import { start } from './instance.ts'
import { unmetDependencies } from './invariants/places.ts'
import { TTL_SECONDS_MAX } from './policy.ts'
import { SKEW_MS_MAX, SWEEP_MS, type World } from './world.ts'

const HEALING_MS = TTL_SECONDS_MAX * 1_000 + 2 * SWEEP_MS + 2 * SKEW_MS_MAX
const SLICE_MS = 2_000

export async function heal(world: World, examine: () => void): Promise<void> {
  await stopFaults(world)
  for (let left = HEALING_MS; left > 0; left -= SLICE_MS) {
    await world.time.advance(Math.min(left, SLICE_MS))
    await rest(world)
  }
  expectHealed(world)
  examine()
  await drain(world, examine)
  await attachWhatIsMissing(world)
  examine()
  expectNothing(world, owed(world), 'is still owed')
}

/** Who was stopping has stopped; who is down starts again. */
async function stopFaults(world: World): Promise<void> {
  const { network, wire, instances, instanceParts, diary } = world
  diary.note('the faults stop')
  network.calm = true
  wire.losesHints = 0
  while (instances.some(({ life }) => life.alive && !life.accepting)) await rest(world)
  for (const instance of instances) if (!instance.life.alive) start(instance, instanceParts)
}

/** Nobody has worked for longer than any lease lives: nothing may be held, or waiting for what has ended. */
function expectHealed(world: World): void {
  const { state } = world.witness
  const isOver = (taskId: string) => isTerminal(state.tasks.get(taskId)!.state.status)
  const open = [...state.tasks.values()].filter((task) => !isTerminal(task.state.status))
  const held = open.filter((task) => task.state.status !== 'queued')
  const stuck = open.filter(
    (task) => task.state.place === 'waiting' && unmetDependencies(task, state).every(isOver),
  )
  expectNothing(world, held, 'is still leased')
  expectNothing(world, stuck, 'waits for dependencies that have ended')
}

function owed({ witness }: World): TaskView[] {
  const { tasks, evidence } = witness.state
  return [...tasks.values()].filter(({ definition }) => evidence.open.has(definition.assignedReceiptId))
}

/** Only a completion that named no parent, since its result could not be found, leaves its obligation open. */
async function attachWhatIsMissing(world: World): Promise<void> {
  const { evidence } = world.witness.state
  const isUnlocated = ({ state }: TaskView) =>
    evidence.receipt(state.terminalReceiptId ?? '')?.parents.length === 0
  const open = owed(world)
  expectNothing(
    world,
    open.filter((task) => !isUnlocated(task)),
    'ended, and its obligation is open',
  )
  await execute(
    world,
    world.instances[0]!,
    open.map(({ definition }) => ({
      kind: 'attach',
      actor: { principal: definition.createdBy, sees: 'own' },
      taskId: definition.taskId,
      artifacts: [{ type: 'file', url: 'https://example.test/found' }],
    })),
  )
}

function expectNothing({ diary }: World, tasks: readonly TaskView[], problem: string): void {
  if (tasks.length > 0)
    throw diary.violation(tasks.map(({ definition }) => `${definition.taskId} ${problem}`))
}
