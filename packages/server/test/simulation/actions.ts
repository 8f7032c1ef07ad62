// What can happen next. Each step of a run is one of these, chosen by weight among those that make sense now.
import assert from 'node:assert/strict'
import { agentRequest } from './agent.ts'
import { adjustClock, crash, type Instance, start } from './instance.ts'
import { workerRequest } from './worker.ts'
import type { Call, Fault } from './wire.ts'
import { settled, type World } from './world.ts'

interface Action {
  readonly weight: (world: World) => number
  readonly run: (world: World) => Promise<void> | void
}

/** A run stays readable, and its checks fast, with this many tasks. */
const TASKS_MAX = 40

export const ACTIONS = {
  agent: { weight: () => 8, run: agentActs },
  worker: { weight: ({ workers }) => (workers.some(({ paused }) => !paused) ? 24 : 0), run: workerActs },
  deliver: { weight: ({ network }) => Math.min(20, network.underWay.length * 3), run: deliverLate },
  database: { weight: ({ wire }) => Math.min(120, wire.pending.length * 30), run: databaseProceeds },
  moment: { weight: () => 4, run: ({ time, chance }) => time.advance(chance.between(1, 2_000)) },
  while: { weight: () => 2, run: ({ time, chance }) => time.advance(chance.between(2_000, 20_000)) },
  long: { weight: ({ chance }) => Number(chance.percent(30)), run: longTimePasses },
  pause: {
    weight: ({ workers }) => Number(workers.some(({ paused }) => !paused)),
    run: (world) => pause(world, true),
  },
  resume: {
    weight: ({ workers }) => (workers.some(({ paused }) => paused) ? 2 : 0),
    run: (world) => pause(world, false),
  },
  sweep: {
    weight: (world) => (accepting(world).length > 0 ? 2 : 0),
    run: (world) => {
      const instance = world.chance.pick(accepting(world))
      world.diary.note(`${instance.name} sweeps`)
      instance.sweep().catch(world.instanceParts.onError)
    },
  },
  hangUp: {
    weight: ({ network }) => (waiting(network).length > 0 ? 1 : 0),
    run: ({ network, chance }) => network.hangUp(chance.pick(waiting(network))),
  },
  crash: {
    weight: ({ instances }) => Number(instances.filter(({ life }) => life.alive).length > 1),
    run: (world) => crashInstance(world, world.chance.pick(world.instances.filter(({ life }) => life.alive))),
  },
  stop: {
    weight: ({ instances }) => Number(instances.filter(({ life }) => life.accepting).length > 1),
    run: (world) => stopInstance(world, world.chance.pick(accepting(world))),
  },
  restart: {
    weight: ({ instances }) => (instances.every(({ life }) => life.alive) ? 0 : 4),
    run: ({ instances, instanceParts, chance, diary }) => {
      const instance = chance.pick(instances.filter(({ life }) => !life.alive))
      diary.note(`${instance.name} starts again`)
      start(instance, instanceParts)
    },
  },
  clock: {
    weight: () => 1,
    run: (world) => {
      const instance = world.chance.pick(world.instances)
      adjustClock(instance, world.instanceParts)
      world.diary.note(`the clock of ${instance.name} is off by ${instance.skewMs} ms`)
    },
  },
} satisfies Record<string, Action>

export type ActionName = keyof typeof ACTIONS

export function chooseAction(world: World): ActionName {
  const names = Object.keys(ACTIONS) as ActionName[] // the record's own keys
  return world.chance.weighted(
    Object.fromEntries(names.map((name) => [name, (ACTIONS[name] as Action).weight(world)])),
  ) as ActionName
}

function accepting({ instances }: World): Instance[] {
  return instances.filter(({ life }) => life.accepting)
}

function waiting(network: World['network']) {
  return [...network.flights].filter(({ request }) => (request.waitMs ?? 0) > 0)
}

function agentActs(world: World): void {
  const { chance, witness, time } = world
  const agent = chance.pick(world.agents)
  const request = agentRequest(agent, { chance, state: witness.state, now: time.now(), tasksMax: TASKS_MAX })
  if (request !== null) sendSoon(world, request)
}

function workerActs(world: World): void {
  const { chance, workers } = world
  const worker = chance.pick(workers.filter(({ paused }) => !paused))
  const request = workerRequest(worker, { chance, others: workers.filter((other) => other !== worker) })
  if (request !== null) sendSoon(world, request)
}

/** Paused is what a worker is while its machine sleeps: when it is back it goes on as if no time had passed. */
function pause({ workers, chance, diary }: World, paused: boolean): void {
  const worker = chance.pick(workers.filter((other) => other.paused !== paused))
  worker.paused = paused
  diary.note(`${worker.principal.id} ${paused ? 'pauses' : 'is back'}`)
}

/** Most requests arrive at once; the others are late. */
function sendSoon(world: World, request: World['network']['underWay'][number]): void {
  world.network.send(request)
  for (const { kind } of request.commands) world.diary.count(kind)
  if (world.chance.percent(75)) world.network.deliver(request, somewhere(world))
}

function deliverLate(world: World): void {
  world.diary.count('request late')
  world.network.deliver(world.chance.pick(world.network.underWay), somewhere(world))
}

/** Mostly where somebody listens, as a load balancer would choose. */
function somewhere(world: World): Instance {
  const open = accepting(world)
  return world.chance.pick(open.length > 0 && world.chance.percent(90) ? open : world.instances)
}

async function databaseProceeds(world: World): Promise<void> {
  const { wire, chance, diary } = world
  const call = chance.pick(wire.pending)
  const fault = call.answer === null ? chooseFault(call, world) : null
  const crashes = chance.below(60) === 0
  const answered = !crashes && (call.answer !== null || chance.percent(70))
  diary.note(`${call.life.name} ${call.label}${fault === null ? '' : ` ${fault}`}${answered ? '' : ' …'}`)
  if (fault !== null) diary.count(`call ${fault}`)
  await wire.proceed(call, { fault, answered })
  if (crashes) crashInstance(world, world.instances.find(({ life }) => life === call.life)!)
}

function chooseFault(call: Call, { chance }: World): Fault | null {
  if (!chance.percent(8)) return null
  return call.writes
    ? chance.weighted<Fault>({ refused: 1, undecided: 1, unwritten: 1, misreported: 3, repeated: 2 })
    : 'refused'
}

function crashInstance({ wire, network, diary }: World, instance: Instance): void {
  diary.note(`${instance.name} crashes`)
  diary.count('instance crash')
  crash(instance, wire)
  network.cut(instance.life)
}

function stopInstance(world: World, instance: Instance): void {
  world.diary.note(`${instance.name} stops`)
  stopped(world, instance).catch(world.instanceParts.onError)
}

/** Everything that it had accepted must be answered by then. */
async function stopped({ wire, network, diary }: World, instance: Instance): Promise<void> {
  const { life } = instance
  await instance.stop()
  await settled()
  if (!life.alive) return
  const unanswered = [...network.flights].some((flight) => flight.life === life)
  assert(!unanswered, `${instance.name} stopped and left a request unanswered`)
  crash(instance, wire)
  diary.note(`${instance.name} has stopped`)
}

/** Long enough for every lease to be lost, now and then for the day after which an unlinkable result is reported. */
async function longTimePasses({ time, chance, diary }: World): Promise<void> {
  const seconds = chance.percent(20) ? 25 * 3_600 : chance.between(60, 300)
  diary.note(`${seconds} s pass`)
  await time.advance(seconds * 1_000)
}
