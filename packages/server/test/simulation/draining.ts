// Well behaved workers, when the faults are over: they wait for work, get it as soon as there is some, and end every task.
import type { Command } from '../../src/engine/command.ts'
import type { Grant, Result } from '../../src/engine/decide/index.ts'
import { isTerminal } from '../../src/engine/model.ts'
import type { TaskView } from '../../src/store/port.ts'
import { CAPABILITIES } from './agent.ts'
import { claimOf, completeOf } from './commands.ts'
import type { Instance } from './instance.ts'
import { settled, SKEW_MS_MAX, TENANT, type World } from './world.ts'

const DRAINER = { kind: 'worker', id: 'drainer' } as const
const ROUNDS_MAX = 60
const WAIT_MS = 60_000
const SLICE_MS = 500
/** The longest that a task may wait beside a worker that waits: across instances, with every hint lost. */
const WAKE_MS = 2_000

export async function drain(world: World, examine: () => void): Promise<void> {
  const { witness, diary } = world
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const open = [...witness.state.tasks.values()].filter(({ state }) => !isTerminal(state.status))
    if (open.length === 0) return
    const claimable = open.filter((task) => isClaimable(task, world, 0))
    // One instance for both, so that no two clocks can disagree on whether a deadline has passed.
    const instance = world.chance.pick(world.instances)
    const granted = (await claim(world, instance)).map(({ lease }) => lease)
    const missed = granted.length >= roomOf(world) ? [] : claimable.filter((task) => !isAmong(task, granted))
    if (missed.length > 0) {
      throw diary.violation(missed.map(({ definition }) => `${definition.taskId} could not be claimed`))
    }
    await execute(
      world,
      instance,
      granted.map(({ taskId, leaseId }) => completeOf({ worker: DRAINER, taskId, leaseId })),
    )
    examine()
  }
  throw diary.violation(['well behaved workers did not come to an end'])
}

function roomOf({ policy }: World): number {
  return policy.claim.maxConcurrentLeases || Infinity
}

function isAmong({ definition }: TaskView, leases: readonly { taskId: string }[]): boolean {
  return leases.some(({ taskId }) => taskId === definition.taskId)
}

/** Due on every clock for at least so long, and without a key that others may have filled. */
function isClaimable({ definition, state }: TaskView, { time }: World, sinceMs: number): boolean {
  const now = time.now()
  return (
    state.status === 'queued' &&
    state.place !== 'waiting' &&
    definition.concurrencyKey === null &&
    state.nextEligibleAt <= now - SKEW_MS_MAX - sinceMs &&
    (definition.deadlineAt ?? Infinity) > now + SKEW_MS_MAX
  )
}

/** Waits for anything. */
async function claim(world: World, { engine }: Instance): Promise<readonly Grant[]> {
  const { witness, diary, defects } = world
  const command = claimOf(DRAINER, { capabilities: CAPABILITIES, maxTasks: 1_000 })
  const { signal } = new AbortController()
  const answers: (readonly Grant[])[] = []
  engine.claim(TENANT, command, { waitMs: WAIT_MS, signal }).then(
    (grants) => answers.push(grants),
    (error: unknown) => defects.push(error),
  )
  for (let waited = 0; ; waited += SLICE_MS) {
    await rest(world)
    const [grants] = answers
    if (grants !== undefined) {
      witness.acknowledged.add(command, { ok: true, reply: { grants, again: false } })
      return grants
    }
    const overdue = [...witness.state.tasks.values()].filter((task) => isClaimable(task, world, WAKE_MS))
    if (overdue.length > 0 && waited > WAKE_MS) {
      throw diary.violation(
        overdue.map(({ definition }) => `${definition.taskId} waits beside a waiting worker`),
      )
    }
    await world.time.advance(SLICE_MS)
  }
}

/** Everything that is under way arrives, and the database answers at once. */
export async function rest({ wire, network, instances }: World): Promise<void> {
  while (network.underWay.length > 0) network.deliver(network.underWay[0]!, instances[0]!)
  await settled()
  while (wire.pending.length > 0) {
    await wire.proceed(wire.pending[0]!, { fault: null, answered: true })
    await settled()
  }
}

export async function execute(
  world: World,
  { engine }: Instance,
  commands: readonly Command[],
): Promise<void> {
  if (commands.length === 0) return
  const answers: (readonly Result[])[] = []
  const asked = engine.execute(TENANT, commands).then((results) => answers.push(results))
  await rest(world)
  await asked
  for (const [index, result] of answers[0]!.entries()) {
    world.witness.acknowledged.add(commands[index]!, result)
    if (!result.ok)
      throw world.diary.violation([`${commands[index]!.kind} was refused: ${result.error.message}`])
  }
}
