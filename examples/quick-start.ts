// A task from creation to discharged obligation, with the SDK client playing both sides.
import assert from 'node:assert/strict'
import { createClient } from '@asyncgate/sdk'

const url = process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420'
const me = { principal_kind: 'agent', principal_id: 'quick-start' } as const
const gate = createClient({ url })

const created = await gate.createTask({ ...me, type: 'quick-start.greet', payload: { name: 'Ada' } })
console.log(`queued ${created.task_id}`)

const before = await gate.openObligations(me)
assert(
  before.open_obligations.some((receipt) => receipt.receipt_id === created.receipt_id),
  'the obligation is open',
)

const { tasks } = await gate.leaseNext({
  worker_id: 'greeter-1',
  accept_types: ['quick-start.greet'],
  wait_seconds: 10,
})
const task = tasks[0]
assert(task, 'the worker is given the task')
await gate.complete({
  worker_id: 'greeter-1',
  task_id: task.task_id,
  lease_id: task.lease_id,
  result: { text: `Hello, ${String(task.payload['name'])}` },
  store_result: true,
})

const done = await gate.getTask({ ...me, task_id: created.task_id, wait_seconds: 10 })
assert.deepEqual(done.result?.result, { text: 'Hello, Ada' })
const proof = await gate.checkTerminator({ ...me, parent_receipt_id: created.receipt_id })
assert(proof.has_terminator, 'the obligation is discharged')
console.log(`done: ${JSON.stringify(done.result?.result)}, proved by receipt ${proof.terminator_receipt_id}`)
