// An agent queues work over MCP and forgets it. A later session, which knows nothing, asks what is still open, and
// finds the result. A worker finishes the task in between.
import assert from 'node:assert/strict'
import { createClient } from '@asyncgate/sdk'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const url = process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420'
const agent = { principal_kind: 'agent', principal_id: 'mcp-example' }

/** One session of the agent: connects, calls a few tools, and is gone. */
async function session<T>(
  work: (call: (tool: string, input: object) => Promise<Record<string, unknown>>) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'example-agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)))
  try {
    return await work(async (tool, input) => {
      const reply = await client.callTool({ name: `asyncgate_${tool}`, arguments: { ...agent, ...input } })
      assert(!reply.isError, JSON.stringify(reply.content))
      return reply.structuredContent as Record<string, unknown>
    })
  } finally {
    await client.close()
  }
}

await session((call) =>
  call('create_task', { type: 'example.summarise', payload: { document: 'minutes.txt' } }),
)
console.log('first session: handed off, and gone')

const open = await session((call) => call('open_obligations', { principal_instance_id: 'second' }))
const [obligation] = open['open_obligations'] as { task_id: string; receipt_type: string }[]
assert.equal(obligation?.receipt_type, 'task.assigned')
console.log(`second session: task ${obligation.task_id} is still open`)

const worker = createClient({ url })
const { tasks } = await worker.leaseNext({ worker_id: 'summariser-1', accept_types: ['example.summarise'] })
for (const { task_id, lease_id } of tasks) {
  await worker.complete({
    worker_id: 'summariser-1',
    task_id,
    lease_id,
    result: { summary: 'All agreed.' },
    store_result: true,
  })
}

const task = await session((call) => call('get_task', { task_id: obligation.task_id }))
assert.equal(task['status'], 'succeeded')
const left = await session((call) => call('open_obligations', {}))
assert.deepEqual(left['open_obligations'], [])
console.log('third session: done, and nothing is open')
