// A worker of the SDK on a whole gate within the process, both on a clock that the test moves.
import { type Client, createWorker, type Worker, type WorkerEvent, type WorkerOptions } from '@asyncgate/sdk'
import { createTestGate, type TestGate } from '../src/testing/index.ts'

type Kind = WorkerEvent['kind']
type Of<K extends Kind> = Extract<WorkerEvent, { kind: K }>

export interface WorkerRig extends TestGate {
  readonly worker: Worker
  readonly events: readonly WorkerEvent[]
  /** What `run` came to; undefined while it runs. */
  running: Promise<void>
  /** Resolves with the event of that kind that is the `count`th, seen before or not. */
  seen<K extends Kind>(kind: K, count?: number): Promise<Of<K>>
}

export interface RigParts extends Partial<WorkerOptions> {
  readonly config?: NonNullable<Parameters<typeof createTestGate>[0]>['config']
  /** What stands between the worker and the gate. */
  readonly between?: (client: Client) => Partial<Client>
}

const rigs: WorkerRig[] = []

export async function stopRigs(): Promise<void> {
  for (const rig of rigs.splice(0)) {
    await rig.worker.stop({ graceSeconds: 0 })
    await rig.stop()
  }
}

export async function runWorker(
  register: (worker: Worker) => void,
  { config = {}, between = () => ({}), ...options }: RigParts = {},
): Promise<WorkerRig> {
  const gate = await createTestGate({ config })
  const events: WorkerEvent[] = []
  const listeners = new Set<() => void>()
  const worker = createWorker({
    client: { ...gate.client, ...between(gate.client) },
    clock: gate.clock,
    workerId: 'w1',
    log: false,
    stopOnSignals: false,
    ...options,
    onEvent: (event) => {
      events.push(event)
      for (const listener of listeners) listener()
    },
  })
  register(worker)
  const running = worker.run()
  running.catch(() => {}) // the test that expects it looks at it
  const rig: WorkerRig = {
    ...gate,
    worker,
    events,
    running,
    seen: <K extends Kind>(kind: K, count = 1) =>
      new Promise<Of<K>>((resolve) => {
        const look = () => {
          const found = events.filter((event): event is Of<K> => event.kind === kind)
          if (found.length < count) return
          listeners.delete(look)
          resolve(found[count - 1]!)
        }
        listeners.add(look)
        look()
      }),
  }
  rigs.push(rig)
  return rig
}
