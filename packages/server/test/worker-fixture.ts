// A worker as its own process, for tests that kill, freeze and stop it. It says on stdout, as JSON lines, what happens.
import { createClient, createWorker, GateError, type Handler } from '@asyncgate/sdk'

const { GATE_URL, GATE_KEY, WORKER_ID, TYPES, GRACE_SECONDS, CONCURRENCY, TTL_SECONDS } =
  process.env as Record<string, string>
const client = createClient({ url: GATE_URL!, apiKey: GATE_KEY!, retry: false })
const say = (line: object) => console.log(JSON.stringify(line))

const worker = createWorker({
  client,
  workerId: WORKER_ID!,
  concurrency: Number(CONCURRENCY ?? 20),
  leaseTtlSeconds: Number(TTL_SECONDS ?? 1),
  graceSeconds: Number(GRACE_SECONDS ?? 5),
  onEvent: (event) => {
    if (event.kind === 'ready') say({ said: 'ready', renewsFrom: event.renewsFrom })
    if (event.kind === 'ended') say({ said: event.outcome })
  },
})

const sigterm = new Promise((resolve) => process.once('SIGTERM', resolve))

const handlers: Record<string, Handler<Record<string, unknown>>> = {
  quick: () => ({ by: WORKER_ID }),
  /** Ends only when its lease does; if that was lost, it tries to complete all the same, as a careless program would. */
  hold: async (_payload, { task: { task_id, lease_id }, signal }) => {
    say({ said: 'started' })
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    say({ said: 'aborted', end: signal.reason.end })
    if (signal.reason.end !== 'lost') return
    const refusal = await client
      .complete({ worker_id: WORKER_ID!, task_id, lease_id, result: 'too late', store_result: true })
      .catch((error: GateError) => error)
    say({ said: 'told', code: refusal instanceof GateError ? refusal.code : null })
  },
  /** Lets nothing else run on its thread. */
  block: (payload) => {
    say({ said: 'started' })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(payload['ms']))
    return { by: WORKER_ID }
  },
  /** Ends within the grace of a stop. */
  finish: async () => {
    say({ said: 'started' })
    await sigterm
    return { by: WORKER_ID }
  },
}
for (const pair of TYPES!.split(',')) {
  const [type, handler] = pair.split('=')
  worker.task(type!, handlers[handler!]!)
}
await worker.run()
say({ said: 'drained' })
