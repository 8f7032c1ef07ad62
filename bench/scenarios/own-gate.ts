// A server of ours with one caller, for the scenarios that look at AsyncGate alone.
import { gateStage, type Stage } from '../contenders/stages.ts'
import type { GateAddress } from '../contenders/gate-client.ts'
import { type Player, startPlayer } from '../lab/player.ts'
import type { CallingActs } from '../players/calling-player.ts'
import type { Bench } from '../scenario.ts'

export interface OwnGate {
  readonly stage: Stage
  readonly address: GateAddress
  readonly caller: Player<CallingActs>
  close(): Promise<void>
}

export async function openOwnGate(bench: Bench): Promise<OwnGate> {
  const stage = await gateStage(bench, bench.settings.store)()
  const [{ url, options }] = stage.targets
  const address = { url, key: options['key'] ?? '' }
  const caller = startPlayer<CallingActs>(bench.lab, 'calling-player')
  await caller.ask('open', address)
  return {
    stage,
    address,
    caller,
    close: async () => {
      await caller.stop()
      await stage.close()
    },
  }
}

/** Rows that build on each other prepare what they add once, however often they are measured. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
