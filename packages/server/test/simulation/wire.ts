// The way between instances and the one database. Every call waits here until the simulation lets it go on: so anything can
// happen between any two of them, and time passes while a transaction waits for its locks.
import { GateError } from '@asyncgate/sdk'
import type { Snapshot, Unit } from '../../src/engine/unit.ts'
import type { Hint, Store } from '../../src/store/port.ts'
import type { Chance } from './chance.ts'

/** One run of an instance, from its start to its crash. */
export interface Life {
  readonly name: string
  alive: boolean
  /** False when it is down, and while it stops. */
  accepting: boolean
}

/**
 * Where a call breaks: the database never hears of it; the connection is lost between load and decide, or between decide and
 * write; the commit succeeds and is reported as failed; the transaction is rolled back and decided a second time.
 */
export type Fault = 'refused' | 'undecided' | 'unwritten' | 'misreported' | 'repeated'

export interface Call {
  readonly life: Life
  readonly label: string
  readonly writes: boolean
  /** Does it, up to the fault; what it returns tells the caller how it ended. */
  readonly run: (fault: Fault | null) => Promise<() => void>
  /** Set when the database is done and only the answer is still on its way. */
  answer: (() => void) | null
}

/** What an instance sees of the database: all that the engine and the reaper use. */
export type InstanceStore = Pick<
  Store,
  | 'transact'
  | 'commitsAtOnce'
  | 'isAlone'
  | 'dependentsOf'
  | 'nextEligibleAt'
  | 'hint'
  | 'onHint'
  | 'dueLeases'
  | 'dueTimers'
  | 'dueDependents'
  | 'readTask'
>

export interface Wire {
  readonly pending: readonly Call[]
  connect(life: Life): InstanceStore
  /** Lets the database work on a call; with `answered` its answer arrives in the same step. */
  proceed(call: Call, options: { fault: Fault | null; answered: boolean }): Promise<void>
  /** The calls of an instance that crashed: what was done is done, nobody hears of it. */
  cut(life: Life): void
  /** Hints are lost from now on with this likelihood. */
  losesHints: number
}

export type Transact = <T>(unit: Unit<T>, life: Life) => Promise<T>

export function createWire(of: {
  database: Store
  /** The database's own transaction, watched by the witness. */
  transact: Transact
  chance: Chance
}): Wire {
  const { database, transact, chance } = of
  const pending: Call[] = []
  const listeners = new Map<Life, Set<(hint: Hint) => void>>()

  function hold<T>(life: Life, label: string, work: (fault: Fault | null) => Promise<T>): Promise<T> {
    if (!life.alive) return new Promise(() => {})
    return new Promise((resolve, reject) => {
      const run = async (fault: Fault | null) => {
        if (fault === 'refused') return () => reject(unavailable())
        try {
          const value = await work(fault)
          return fault === 'misreported' ? () => reject(unavailable()) : () => resolve(value)
        } catch (error) {
          if (error instanceof GateError) return () => reject(error)
          throw error
        }
      }
      pending.push({ life, label, writes: label === 'transact', run, answer: null })
    })
  }

  function remove(call: Call): void {
    const index = pending.indexOf(call)
    if (index >= 0) pending.splice(index, 1)
  }

  const wire: Wire = {
    pending,
    losesHints: 0,
    connect: (life) => ({
      commitsAtOnce: 2,
      isAlone: () => true, // the worst: it is wrong
      transact: (unit) => hold(life, 'transact', (fault) => transact(faulty(unit, fault), life)),
      dependentsOf: (...args) => hold(life, 'dependentsOf', () => database.dependentsOf(...args)),
      nextEligibleAt: (...args) => hold(life, 'nextEligibleAt', () => database.nextEligibleAt(...args)),
      dueLeases: (...args) => hold(life, 'dueLeases', () => database.dueLeases(...args)),
      dueTimers: (...args) => hold(life, 'dueTimers', () => database.dueTimers(...args)),
      readTask: (...args) => hold(life, 'readTask', () => database.readTask(...args)),
      dueDependents: (...args) => hold(life, 'dueDependents', () => database.dueDependents(...args)),
      hint: (hint) => {
        for (const [other, heard] of listeners) {
          if (other === life || !other.alive || chance.percent(wire.losesHints)) continue
          for (const listener of heard) listener(hint)
        }
      },
      onHint: (listener) => {
        const heard = listeners.get(life) ?? new Set()
        listeners.set(life, heard.add(listener))
        return () => heard.delete(listener)
      },
    }),
    proceed: async (waiting, { fault, answered }) => {
      waiting.answer ??= await waiting.run(fault)
      if (!answered) return
      remove(waiting)
      waiting.answer()
    },
    cut: (life) => {
      listeners.delete(life)
      for (const waiting of pending.filter((other) => other.life === life)) remove(waiting)
    },
  }
  return wire
}

function faulty<T>(unit: Unit<T>, fault: Fault | null): Unit<T> {
  const decide = (snapshot: Snapshot) => {
    if (fault === 'undecided') throw unavailable()
    if (fault === 'repeated') unit.decide(snapshot)
    const decision = unit.decide(snapshot)
    if (fault === 'unwritten') throw unavailable()
    return decision
  }
  return { ...unit, decide }
}

function unavailable(): GateError {
  return new GateError('database_unavailable', 'The simulated database did not answer. Try again.')
}
