// A server instance: the production engine and reaper with a clock of its own that is a little wrong. A crash loses all that
// it had in memory; a restart begins with nothing.
import type { Clock } from '../../src/clock.ts'
import type { decideBatch } from '../../src/engine/decide/index.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { Policy } from '../../src/engine/policy.ts'
import { createIds } from '../../src/ids.ts'
import { startLoop } from '../../src/service/loop.ts'
import { createReaper } from '../../src/service/reaper.ts'
import type { Chance } from './chance.ts'
import type { InstanceStore, Life, Wire } from './wire.ts'

export interface Instance {
  readonly name: string
  /** How far its clock is off now. */
  skewMs: number
  life: Life
  engine: Engine
  sweep(): Promise<unknown>
  /** As on SIGTERM: no more requests, what was accepted is answered. */
  stop(): Promise<void>
}

export interface InstanceParts {
  readonly wire: Wire
  readonly time: Clock
  readonly chance: Chance
  readonly policy: Policy
  readonly sweepMs: number
  readonly skewMsMax: number
  /** Decides, and lets the witness see what was asked. */
  readonly decide: (life: Life, now: () => number) => typeof decideBatch
  readonly store?: (store: InstanceStore, clock: Clock) => InstanceStore
  readonly onError: (error: unknown) => void
}

export function createInstance(name: string, parts: InstanceParts): Instance {
  const instance: Instance = { name, skewMs: 0, ...down(name) }
  start(instance, parts)
  return instance
}

function down(name: string): Omit<Instance, 'name' | 'skewMs'> {
  const refuse = () => Promise.reject(new Error(`${name} is down`))
  const life = { name, alive: false, accepting: false }
  return { life, engine: null as never, sweep: refuse, stop: refuse } // start fills these in
}

export function start(instance: Instance, parts: InstanceParts): void {
  const { wire, chance, policy, sweepMs, onError } = parts
  const life: Life = { name: instance.name, alive: true, accepting: true }
  const random = chance.fork()
  adjustClock(instance, parts)
  const clock = skewedClock(parts.time, { instance, life })
  const connected = wire.connect(life)
  const store = parts.store?.(connected, clock) ?? connected
  const ids = createIds({ clock, random })
  const decide = parts.decide(life, () => parts.time.now() + instance.skewMs)
  const engine = createEngine({ store, clock, ids, random, policy, instance: instance.name, decide, onError })
  const reaper = createReaper({ store, engine, clock, graceMs: 0, onRefused: fail })
  const sweep = () => reaper.runOnce()
  const sweeping = startLoop({ runOnce: sweep, intervalMs: sweepMs, clock, random, onError })
  const stop = async () => {
    life.accepting = false
    await sweeping.stop()
    await engine.stop()
  }
  Object.assign(instance, { life, engine, sweep, stop })
}

export function crash(instance: Instance, wire: Wire): void {
  Object.assign(instance.life, { alive: false, accepting: false })
  wire.cut(instance.life)
}

/** As if its time had been set: it may jump, also backwards. */
export function adjustClock(instance: Instance, { chance, skewMsMax }: InstanceParts): void {
  instance.skewMs = chance.between(-skewMsMax, skewMsMax)
}

function skewedClock(time: Clock, { instance, life }: { instance: Instance; life: Life }): Clock {
  return {
    now: () => time.now() + instance.skewMs,
    after: (delayMs, run) => time.after(delayMs, () => life.alive && run()),
  }
}

/** Nothing that a sweep finds may be refused. */
function fail(error: Error): never {
  throw error
}
