// A nightly schedule: asked for, looked at, and ended again as tasks, like all work. So that nobody has to wait for the night, a
// second one runs every second, and a worker does what it asks for. A scheduler must be there; `npm start` has one.
import assert from 'node:assert/strict'
import { createClient, createWorker } from '@asyncgate/sdk'

const client = createClient({ url: process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420' })
const me = { principal_kind: 'agent', principal_id: 'nightly-example' } as const

interface Schedule {
  readonly schedule_id: string
  readonly next_runs: readonly string[]
}

/** Asks the scheduler, and waits for its answer. */
async function ask(type: string, payload: Record<string, unknown>): Promise<Schedule> {
  const { task_id } = await client.createTask({ ...me, type, payload })
  const { result, status } = await client.getTask({ ...me, task_id, wait_seconds: 30 })
  assert.equal(result?.outcome, 'succeeded', `${type} is ${status}: ${JSON.stringify(result?.error)}`)
  return result.result as Schedule
}

const task_template = { type: 'example.backup', payload_template: { night: '{{run_at}}' } }
const nightly = await ask('schedule.create', {
  name: 'backup, every night at 3',
  mode: 'cron',
  cron_expr: '0 3 * * *',
  timezone: 'Europe/Berlin',
  misfire_policy: 'catch_up_one', // after an outage one backup is enough
  jitter_seconds: 600, // not all at the same second
  task_template,
})
const berlin = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin', timeStyle: 'short' })
assert.deepEqual(new Set(nightly.next_runs.map((at) => berlin.format(Date.parse(at)))), new Set(['03:00']))
console.log(`the next five nights:\n  ${nightly.next_runs.join('\n  ')}`)

const nights: string[] = []
const worker = createWorker({ client, workerId: 'backup-1', log: false })
const three = Promise.withResolvers<void>()
worker.task<{ night: string }>('example.backup', ({ night }) => {
  nights.push(night)
  if (nights.length === 3) three.resolve()
  return { saved: `backup of ${night}` }
})
const running = worker.run()
const quick = await ask('schedule.create', {
  name: 'backup, every second',
  mode: 'interval',
  interval_seconds: 1,
  task_template,
})
await three.promise
assert.equal(new Set(nights).size, nights.length)
console.log(`${nights.length} runs, each once`)

for (const { schedule_id } of [nightly, quick]) await ask('schedule.delete', { schedule_id })
await worker.stop()
await running
const { open_obligations: open } = await client.openObligations({ ...me, limit: 200 })
assert.deepEqual(
  open.filter((receipt) => receipt.receipt_type === 'schedule.created'),
  [],
)
console.log('deleted, and nothing is owed any more')
