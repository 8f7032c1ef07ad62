// A worker that tells how far it is, and stops when its task is canceled. Its owner watches one task to the end, and cancels
// another halfway.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, createWorker, type LeaseEndedError } from '@asyncgate/sdk'
import { z } from 'zod'

const client = createClient({ url: process.env['ASYNCGATE_URL'] ?? 'http://127.0.0.1:8420' })
const me = { principal_kind: 'agent', principal_id: 'progress-example' } as const
const canceled = Promise.withResolvers<LeaseEndedError>()

const worker = createWorker({ client, workerId: 'bakery-1', concurrency: 2, log: false })
worker.task(
  'example.bake',
  async ({ loaves }, ctx) => {
    ctx.signal.addEventListener('abort', () => canceled.resolve(ctx.signal.reason))
    for (let done = 0; done < loaves; done += 1) {
      await sleep(20, undefined, { signal: ctx.signal }) // the work: whatever takes a signal ends with the task
      await ctx.progress({
        percent: Math.round(((done + 1) / loaves) * 100),
        message: `${done + 1} of ${loaves}`,
      })
    }
    return { baked: loaves }
  },
  { schema: z.object({ loaves: z.int().min(1) }) },
)
const running = worker.run()

const small = await client.createTask({ ...me, type: 'example.bake', payload: { loaves: 5 } })
const done = await client.getTask({ ...me, task_id: small.task_id, wait_seconds: 30 })
assert.deepEqual(done.result?.result, { baked: 5 })
const { progress } = await client.getProgress({ ...me, task_id: small.task_id })
assert.equal(progress.length, 5)
console.log(`done, after ${progress.length} reports of progress`)

const large = await client.createTask({ ...me, type: 'example.bake', payload: { loaves: 100_000 } })
while ((await client.getTask({ ...me, task_id: large.task_id })).progress === null) await sleep(10)
await client.cancelTask({ ...me, task_id: large.task_id, reason: 'enough bread' })
assert.equal((await canceled.promise).end, 'canceled')
console.log('canceled, and the worker has stopped')

await worker.stop()
await running
const { open_obligations: open } = await client.openObligations(me)
assert.deepEqual(open, [])
