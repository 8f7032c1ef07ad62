// For the tests of programs that use AsyncGate (`asyncgate/testing`): a whole gate within the process, on a clock that the
// test moves. Leases, delays and backoffs pass in no time; nothing is kept, no port is opened.
import { type Client, contract, type OperationKey } from '@asyncgate/sdk'
import { SHARED_CALLER } from '../auth/shared-key.ts'
import { configOf, type ConfigValues } from '../config.ts'
import type { Dispatch } from '../facade/dispatch.ts'
import { openGate } from '../gate.ts'
import { contentCalls } from './content.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

export { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

export interface TestGate {
  /** As a client of a server elsewhere, with all rights. */
  readonly client: Client
  /** Give it to `createWorker` too. */
  readonly clock: VirtualClock
  stop(): Promise<void>
}

export interface TestGateOptions {
  /** Settings under their names in the configuration file, e.g. `{ lease: { min_ttl_seconds: 1 } }`. */
  readonly config?: ConfigValues
  /** When the clock starts. */
  readonly startMs?: number
}

export async function createTestGate({ config = {}, startMs }: TestGateOptions = {}): Promise<TestGate> {
  const clock = createVirtualClock(startMs)
  const settings = { database: { url: 'memory:' }, auth: { mode: 'dev' }, log: { level: 'silent' } } as const
  const gate = await openGate(configOf({ ...settings, ...config }), { clock })
  return { client: clientOf(gate.dispatch), clock, stop: () => gate.stop() }
}

/** Everything goes through JSON, as on the wire: a test must not pass on what a network would not carry. */
function clientOf(dispatch: Dispatch): Client {
  const methods = (Object.keys(contract) as OperationKey[]).map((key) => {
    const call = async (input: object = {}, { signal }: { signal?: AbortSignal } = {}) => {
      signal?.throwIfAborted()
      try {
        const request = { caller: SHARED_CALLER, ...(signal && { signal }) }
        return plain(await dispatch(key, plain(input), request))
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      }
    }
    return [key, call] as const
  })
  // Each method takes and returns what its own contract entry says; the compiler cannot follow that through a loop.
  return { ...Object.fromEntries(methods), ...contentCalls(dispatch) } as unknown as Client
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T // of the same form as what was given
}
