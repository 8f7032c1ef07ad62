// A process that is thousands of workers: each holds one claim open on a connection of its own, takes what it is given,
// completes it, and waits again.
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateClient, type GateAddress } from '../contenders/gate-client.ts'
import { serveActs } from './acts.ts'
import { nowMs } from './clock.ts'

/** The most that the server holds a claim. */
const WAIT_SECONDS = 60
/** Connections are opened little by little: a storm of them is another test. */
const CHUNK = 100
const CHUNK_MS = 20

interface Granted {
  readonly tasks: readonly {
    readonly task_id: string
    readonly lease_id: string
    readonly payload: { at: number }
  }[]
}

let latencies: number[] = []
let failure: unknown

const acts = {
  async wait({ address, from, count }: { address: GateAddress; from: number; count: number }) {
    const claiming = createGateClient(address, count)
    const reporting = createGateClient(address, 8)
    for (let at = 0; at < count; at += 1) {
      void beWorker(`waiter-${from + at}`).catch((error: unknown) => {
        failure ??= error
      })
      if (at % CHUNK === CHUNK - 1) await sleep(CHUNK_MS)
    }

    async function beWorker(worker_id: string): Promise<void> {
      const claim = { worker_id, accept_types: ['bench'], max_tasks: 1, wait_seconds: WAIT_SECONDS }
      for (;;) {
        const { tasks } = await claiming.post<Granted>('/v1/leases/claim', claim)
        for (const { task_id, lease_id, payload } of tasks) {
          latencies.push(nowMs() - payload.at)
          const completion = { worker_id, lease_id, result: { done: true }, store_result: true }
          await reporting.post(`/v1/tasks/${task_id}/complete`, completion)
        }
      }
    }
  },
  /** Fails when a worker did. */
  async check() {
    if (failure) throw failure
  },
  /** From creation to the answered claim, of all that were served since the last time; fails when a worker did. */
  async takeLatencies() {
    await acts.check()
    const taken = latencies
    latencies = []
    return taken
  },
}

export type WaitingActs = typeof acts

serveActs(acts)
