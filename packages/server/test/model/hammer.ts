// Four engines, each with its own store, on one PostgreSQL database, hammered at once: what one says must hold for all. Time is
// virtual, so that leases expire when the test wants it; the races are real.
import { GateError } from '@asyncgate/sdk'
import type { Command } from '../../src/engine/command.ts'
import type { Claimed, Result } from '../../src/engine/decide/index.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { Policy } from '../../src/engine/policy.ts'
import { createIds } from '../../src/ids.ts'
import { createReaper } from '../../src/service/reaper.ts'
import type { Store } from '../../src/store/port.ts'
import { type Acknowledged, createAcknowledged } from '../simulation/acknowledged.ts'
import type { Chance } from '../simulation/chance.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'

export const TENANT = 'hammered'

export interface Hammer {
  readonly clock: VirtualClock
  readonly acknowledged: Acknowledged
  /** All commands in one call to any engine. An unknown outcome is an empty answer. */
  ask(commands: readonly Command[]): Promise<readonly Result[]>
  claim(command: Extract<Command, { kind: 'claim' }>): Promise<Claimed['grants']>
  sweep(): Promise<void>
  /** Calls whose outcome the client could not know. */
  readonly unknown: () => number
  stop(): Promise<void>
}

export function createHammer(stores: readonly Store[], of: { chance: Chance; policy: Policy }): Hammer {
  const { chance, policy } = of
  const clock = createVirtualClock()
  const acknowledged = createAcknowledged()
  let unknown = 0
  const gates = stores.map((store, index) => {
    const random = chance.fork()
    const ids = createIds({ clock, random })
    const onError = () => {
      unknown += 1
    }
    const engine = createEngine({
      store,
      clock,
      ids,
      random,
      policy,
      instance: `server-${index + 1}`,
      onError,
    })
    return { engine, reaper: createReaper({ store, engine, clock, graceMs: 0, onRefused: fail }) }
  })

  const outcome = async <T>(answer: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof GateError && error.code === 'database_unavailable')) throw error
      unknown += 1
      return otherwise
    }
  }

  async function ask(engine: Engine, commands: readonly Command[]): Promise<readonly Result[]> {
    const results = await outcome(engine.execute(TENANT, commands), [])
    for (const [index, result] of results.entries()) acknowledged.add(commands[index]!, result)
    return results
  }

  return {
    clock,
    acknowledged,
    ask: (commands) => ask(chance.pick(gates).engine, commands),
    claim: async (command) => {
      const [result] = await ask(chance.pick(gates).engine, [command])
      return result?.ok ? (result.reply as Claimed).grants : [] // the reply of a claim
    },
    sweep: async () => {
      await Promise.all(gates.map(({ reaper }) => outcome<unknown>(reaper.runOnce(), null)))
    },
    unknown: () => unknown,
    stop: async () => {
      await Promise.all(gates.map(({ engine }) => engine.stop()))
    },
  }
}

/** Nothing that a sweep finds may be refused. */
function fail(error: Error): never {
  throw error
}
