// A hundred tasks at once and one that waits for them all: the join is an ordinary task with `depends_on`. Nobody has to stay
// awake in between; the gate knows when the last part is done.
import assert from 'node:assert/strict'
import { createClient, createWorker } from '@asyncgate/sdk'
import { z } from 'zod'

const PARTS = 100
const client = createClient({ url: process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420' })
const me = { principal_kind: 'agent', principal_id: 'fan-out-example' } as const

const { tasks } = await client.createTasks({
  ...me,
  tasks: Array.from({ length: PARTS }, (_, n) => ({ type: 'example.square', payload: { n } })),
})
const parts = tasks.map((task) => ('task_id' in task ? String(task.task_id) : assert.fail(task.message)))
const join = await client.createTask({
  ...me,
  type: 'example.sum',
  payload: { parts },
  depends_on: parts,
})
console.log(`queued ${parts.length} parts, and a task that waits for them`)

const worker = createWorker({ client, workerId: 'calculator-1', concurrency: 20, log: false })
worker.task('example.square', ({ n }) => n * n, { schema: z.object({ n: z.number() }) })
worker.task(
  'example.sum',
  async ({ parts }) => {
    const squares = await Promise.all(
      parts.map(async (task_id) => (await client.getTask({ ...me, task_id })).result),
    )
    return squares.reduce((sum, square) => sum + Number(square?.result), 0)
  },
  { schema: z.object({ parts: z.array(z.string()) }) },
)
const running = worker.run()

const done = await client.getTask({ ...me, task_id: join.task_id, wait_seconds: 60 })
assert.equal(done.result?.result, 328_350) // 0² + 1² + … + 99²
await worker.stop()
await running
const { open_obligations: open } = await client.openObligations(me)
assert.deepEqual(open, [])
console.log(`joined: the sum of ${PARTS} squares is ${String(done.result?.result)}`)
