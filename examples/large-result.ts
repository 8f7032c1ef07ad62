// A worker whose results are large: one it simply returns, one it streams. Their owner fetches both, verified, without knowing
// where they are kept.
import assert from 'node:assert/strict'
import { createClient, completed, createWorker } from '@asyncgate/sdk'
import { z } from 'zod'

const client = createClient({ url: process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420' })
const me = { principal_kind: 'agent', principal_id: 'large-result-example' } as const

async function* lines(count: number) {
  for (let line = 0; line < count; line += 1) yield new TextEncoder().encode(`${line},${line ** 2}\n`)
}

const Squares = z.object({ count: z.int() })
const worker = createWorker({
  client,
  workerId: 'mathematician-1',
  log: false,
  onEvent: (event) => {
    if (event.kind === 'uploading') console.log(`uploading: ${event.bytes} bytes`)
  },
})
worker.task('example.list', ({ count }) => Array.from({ length: count }, (_, n) => n ** 2), {
  schema: Squares,
})
worker.task(
  'example.table',
  ({ count }) => completed({ content: lines(count), contentType: 'text/csv', summary: `${count} squares` }),
  { schema: Squares },
)
const running = worker.run()

const list = await client.createTask({ ...me, type: 'example.list', payload: { count: 10_000 } })
await client.getTask({ ...me, task_id: list.task_id, wait_seconds: 30 })
const squares = await client.fetchTaskResult({ ...me, task_id: list.task_id, max_bytes: 1_048_576 })
assert.equal((squares.result as number[]).at(-1), 9_999 ** 2)
console.log(`the list: ${squares.bytes} bytes in ${squares.channel}, verified: ${squares.verified}`)

const table = await client.createTask({ ...me, type: 'example.table', payload: { count: 500_000 } })
await client.getTask({ ...me, task_id: table.task_id, wait_seconds: 30 })
const { content, contentType } = await client.downloadTaskResult({ ...me, task_id: table.task_id })
let bytes = 0
for await (const chunk of content) bytes += chunk.length
console.log(`the table: ${bytes} bytes of ${contentType}`)

await worker.stop()
await running
const { open_obligations: open } = await client.openObligations(me)
assert.deepEqual(open, [])
