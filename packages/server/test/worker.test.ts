// What a worker of the SDK does for its handlers: payloads, outcomes, leases, cancels, troubles and the end.
import { createHash } from 'node:crypto'
import {
  canonicalJson,
  type Client,
  completed,
  FatalError,
  GateError,
  LeaseEndedError,
  RetryableError,
  type TaskContext,
  type Worker,
} from '@asyncgate/sdk'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { verifies } from './requirements.ts'
import { runWorker, stopRigs, type WorkerRig } from './worker-rig.ts'

afterEach(stopRigs)

const ended = async ({ client }: WorkerRig, task: Parameters<Client['createTask']>[0]) => {
  const { task_id } = await client.createTask(task)
  return client.getTask({ task_id, wait_seconds: 60 })
}

function nested(depth: number): unknown {
  return depth === 0 ? 'deep' : [nested(depth - 1)]
}

/** A handler that only ends when its lease does, and what it was given. */
function waiting() {
  const started = Promise.withResolvers<TaskContext>()
  const aborted = Promise.withResolvers<LeaseEndedError>()
  const handler = async (_payload: unknown, context: TaskContext) => {
    started.resolve(context)
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
    aborted.resolve(context.signal.reason as LeaseEndedError)
  }
  const register = (worker: Worker) => void worker.task('wait', handler)
  return { register, started: started.promise, aborted: aborted.promise }
}

describe('payloads', () => {
  const Greeting = z.object({ name: z.string(), times: z.int().default(1) })
  const greeter = (worker: Worker) =>
    void worker.task('greet', ({ name, times }) => `Hello, ${name}! `.repeat(times).trim(), {
      schema: Greeting,
    })

  verifies('SDK-2', 'a schema types the payload and fills in what it says', async () => {
    const rig = await runWorker(greeter)
    const task = await ended(rig, { type: 'greet', payload: { name: 'Ada' } })
    expect(task.result?.result).toBe('Hello, Ada!')
  })

  test('a payload that does not fit fails the task for good and names the field', async () => {
    const rig = await runWorker(greeter)
    const task = await ended(rig, { type: 'greet', payload: { name: 7 } })
    expect(task).toMatchObject({
      status: 'failed',
      attempt: 1,
      result: { error: { code: 'invalid_payload', message: expect.stringContaining('name: ') } },
    })
  })
})

test('a worker that is a service is named as one, and keeps its lease as one', async () => {
  const work = async (_payload: unknown, { progress, heartbeat }: TaskContext) => {
    await progress({ percent: 50 })
    await heartbeat()
  }
  const rig = await runWorker((worker) => worker.task('serve', work), { workerKind: 'service' })
  const { status, task_id } = await ended(rig, { type: 'serve' })
  expect(status).toBe('succeeded')
  const { receipts } = await rig.client.listReceipts({ task_id, from_kind: 'service', from_id: 'w1' })
  expect(receipts.map((receipt) => receipt.receipt_type)).toEqual(['task.accepted', 'task.completed'])
})

describe('outcomes', () => {
  verifies('SDK-2', 'a result is stored, discharges the obligation, and carries its checksum', async () => {
    const rig = await runWorker((worker) => worker.task('sum', () => ({ b: 2, a: [1, undefined, 'é'] })))
    const task = await ended(rig, { type: 'sum' })
    expect(task.result?.result).toEqual({ b: 2, a: [1, null, 'é'] })
    expect(await rig.client.openObligations()).toMatchObject({ open_obligations: [] })
    const { receipts } = await rig.client.listReceipts({ receipt_type: 'task.completed' })
    const hash = createHash('sha256').update(canonicalJson(task.result?.result)).digest('hex')
    expect(receipts[0]?.body).toMatchObject({ completion_metadata: { result_sha256: hash } })
  })

  test('completed() says more than the result', async () => {
    const rig = await runWorker((worker) =>
      worker.task('render', () =>
        completed({ result: 'in the cellar', summary: 'One page', artifacts: [{ url: 'https://x.test/1' }] }),
      ),
    )
    expect((await ended(rig, { type: 'render' })).result).toMatchObject({
      result: 'in the cellar',
      artifacts: expect.arrayContaining([{ url: 'https://x.test/1' }]),
    })
    const { receipts } = await rig.client.listReceipts({ receipt_type: 'task.completed' })
    expect(receipts[0]?.body).toMatchObject({ result_summary: 'One page' })
  })

  const failures: [string, () => unknown, object][] = [
    ['an error', () => Promise.reject(new TypeError('no')), { code: 'TypeError', message: 'no' }],
    ['a thrown text', () => Promise.reject('no'), { code: 'Error', message: 'no' }], // oxlint-disable-line
    [
      'a RetryableError',
      () => Promise.reject(new RetryableError('busy', { code: 'busy', details: { queue: 7 } })),
      { code: 'busy', message: 'busy', queue: 7 },
    ],
  ]
  test.each(failures)('%s is a failure that is tried again', async (_what, handler, error) => {
    const rig = await runWorker((worker) => worker.task('try', handler))
    const { task_id } = await rig.client.createTask({ type: 'try', max_attempts: 2 })
    expect(await rig.seen('ended')).toMatchObject({ outcome: 'retrying' })
    expect(await rig.client.getTask({ task_id })).toMatchObject({ status: 'queued', attempt: 1 })
    await rig.clock.advance(31_000)
    const task = await rig.client.getTask({ task_id, wait_seconds: 60 })
    expect(task).toMatchObject({ status: 'failed', dead_letter: true, result: { error } })
  })

  verifies('SDK-2', 'RetryableError says when to try again, FatalError that it is of no use', async () => {
    const rig = await runWorker((worker) => {
      worker.task('later', () => Promise.reject(new RetryableError('busy', { retryAfterSeconds: 7 })))
      worker.task('never', () => Promise.reject(new FatalError('gone', { code: 'gone' })))
    })
    const { task_id } = await rig.client.createTask({ type: 'later' })
    await rig.seen('ended')
    const { next_eligible_at } = await rig.client.getTask({ task_id })
    expect(Date.parse(next_eligible_at)).toBe(rig.clock.now() + 7_000)
    expect(await ended(rig, { type: 'never' })).toMatchObject({
      status: 'failed',
      dead_letter: false,
      result: { error: { code: 'gone', message: 'gone' } },
    })
  })

  test.each([
    ['no JSON', 10n, 'result_not_json'],
    ['said with metadata that is no JSON', completed({ metadata: { rows: 10n } }), 'result_not_json'],
    ['text that the server refuses', 'a\0b', 'invalid_input'],
    ['more than the server keeps', 'x'.repeat(1_048_577), 'payload_too_large'],
    ['deeper than the server reads', nested(2_000), 'invalid_input'],
  ])('a result that is %s fails the task for good', async (_what, result, code) => {
    const rig = await runWorker((worker) => worker.task('odd', () => result))
    expect(await ended(rig, { type: 'odd' })).toMatchObject({ status: 'failed', result: { error: { code } } })
  })
})

test.each([Number.POSITIVE_INFINITY, 1e12, -1, Number.NaN, 0.5])(
  'a failure that asks for another attempt after %d seconds is reported all the same',
  async (retryAfterSeconds) => {
    const rig = await runWorker((worker) =>
      worker.task('odd', () => Promise.reject(new RetryableError('busy', { retryAfterSeconds }))),
    )
    const { task_id } = await rig.client.createTask({ type: 'odd' })
    expect(await rig.seen('ended')).toMatchObject({ outcome: 'retrying' })
    expect(await rig.client.getTask({ task_id })).toMatchObject({ attempt: 1 })
  },
)

test('a failure with details that the server refuses is reported without them', async () => {
  const rig = await runWorker((worker) =>
    worker.task('odd', () => Promise.reject(new FatalError('no', { details: { text: 'a\0b' } }))),
  )
  expect((await ended(rig, { type: 'odd' })).result?.error).toEqual({ code: 'FatalError', message: 'no' })
})

test.each(['internal_error', 'payload_too_large'] as const)(
  'one outcome that the server answers with %s does not hold up the others',
  async (code) => {
    const between = (client: Client): Partial<Client> => ({
      settle: async (input, options) => {
        const outcomes = (input.outcomes ?? []) as { action: string; result?: unknown }[]
        if (outcomes.some(({ action, result }) => action === 'complete' && result === 'poison'))
          throw new GateError(code, 'no')
        return client.settle(input, options)
      },
    })
    const started = Promise.withResolvers<void>()
    const rig = await runWorker(
      (worker) =>
        worker.task('any', async ({ at }) => {
          if (at === 9) started.resolve()
          await started.promise
          return at === 4 ? 'poison' : 'fine'
        }),
      { between },
    )
    const tasks = Array.from({ length: 10 }, (_, at) => ({ type: 'any', payload: { at }, max_attempts: 1 }))
    const created = await rig.client.createTasks({ tasks })
    await started.promise
    if (code === 'internal_error')
      for (let retry = 1; retry <= 3; retry += 1) {
        await rig.seen('trouble', retry)
        await rig.clock.advance(4_000)
      }
    await rig.seen('ended', 10)
    for (const [at, task] of created.tasks.entries()) {
      const { status, result } = await rig.client.getTask({ task_id: String(task.task_id) })
      expect([at, status]).toEqual([at, at === 4 ? 'failed' : 'succeeded'])
      if (at === 4) expect(result?.error).toMatchObject({ code })
    }
  },
)

describe('throughput', () => {
  verifies(
    'SDK-2',
    'an outcome and the next claim are one call, and an idle worker waits in one',
    async () => {
      const calls: string[] = []
      const count = (client: Client): Partial<Client> => ({
        leaseNext: (...given) => (calls.push('leaseNext'), client.leaseNext(...given)),
        settle: (...given) => (calls.push('settle'), client.settle(...given)),
      })
      const rig = await runWorker((worker) => worker.task('small', () => 'done'), {
        between: count,
        concurrency: 1,
      })
      await rig.client.createTasks({ tasks: Array.from({ length: 20 }, () => ({ type: 'small' })) })
      await rig.seen('ended', 20)
      expect(calls.filter((name) => name === 'settle')).toHaveLength(20)
      expect(calls.filter((name) => name === 'leaseNext').length).toBeLessThanOrEqual(3)
    },
  )

  test('never more handlers at once than its concurrency', async () => {
    let now = 0
    let most = 0
    const rig = await runWorker(
      (worker) =>
        worker.task('small', async () => {
          now += 1
          most = Math.max(most, now)
          await new Promise((resolve) => setImmediate(resolve))
          now -= 1
        }),
      { concurrency: 4 },
    )
    await rig.client.createTasks({ tasks: Array.from({ length: 40 }, () => ({ type: 'small' })) })
    await rig.seen('ended', 40)
    expect(most).toBe(4)
  })
})

describe('leases', () => {
  verifies(
    'SDK-2',
    'a lease is renewed at a third of its length for as long as the handler works',
    async () => {
      const { register, started } = waiting()
      const rig = await runWorker(register, { leaseTtlSeconds: 30 })
      const { task_id } = await rig.client.createTask({ type: 'wait' })
      const { signal } = await started
      for (let count = 1; count <= 6; count += 1) {
        await rig.clock.advance(10_000)
        await rig.seen('renewed', count)
      }
      const { lease } = await rig.client.getTask({ task_id })
      expect(Date.parse(lease!.expires_at)).toBe(rig.clock.now() + 30_000)
      expect(signal.aborted).toBe(false)
    },
  )

  verifies('SDK-2', 'a cancel reaches the handler with the next renewal', async () => {
    const { register, started, aborted } = waiting()
    const rig = await runWorker(register, { leaseTtlSeconds: 30 })
    const { task_id } = await rig.client.createTask({ type: 'wait' })
    await started
    await rig.client.cancelTask({ task_id })
    await rig.clock.advance(10_000)
    expect(await aborted).toMatchObject({ end: 'canceled', taskStatus: 'canceled' })
    expect(await rig.seen('ended')).toMatchObject({ outcome: 'canceled' })
  })

  test.each([
    ['while its handler waits', true],
    ['when its handler reports', false],
  ])(
    'a cancel that is learned %s is no accident: a line of information, without a stack',
    async (_when, waits) => {
      const lines: [string, object, string][] = []
      const note = (level: string) => (fields: object, message: string) =>
        lines.push([level, fields, message])
      const log = { debug: () => {}, info: note('info'), warn: note('warn'), error: note('error') }
      const { register, started } = waiting()
      const reporting = (worker: Worker) =>
        worker.task('wait', async (_payload, { task }) => {
          await rig.client.cancelTask({ task_id: task.task_id })
        })
      const rig = await runWorker(waits ? register : reporting, { leaseTtlSeconds: 30, log })
      const { task_id } = await rig.client.createTask({ type: 'wait' })
      if (waits) {
        await started
        await rig.client.cancelTask({ task_id })
        await rig.clock.advance(10_000)
      }
      expect(await rig.seen('ended')).not.toHaveProperty('error')
      const about = lines.filter(([, fields]) => 'task_id' in fields)
      expect(about.map(([level, , message]) => `${level} ${message}`)).toEqual([
        'info task started',
        'info task canceled',
      ])
      expect(about.some(([, fields]) => 'error' in fields)).toBe(false)
    },
  )

  test.each(['progress', 'heartbeat'] as const)(
    '%s that is refused aborts the signal and throws',
    async (name) => {
      const { register, started, aborted } = waiting()
      const rig = await runWorker(register)
      const { task_id } = await rig.client.createTask({ type: 'wait' })
      const context = await started
      await context[name]({ percent: 50 })
      await rig.client.cancelTask({ task_id })
      await expect(context[name]({ percent: 60 })).rejects.toBeInstanceOf(LeaseEndedError)
      expect((await aborted).end).toBe('canceled')
    },
  )

  test('progress is shown to the owner; a server that is away is passed over', async () => {
    const { register, started } = waiting()
    let isAway = false
    const away = (client: Client): Partial<Client> => ({
      reportProgress: async (...given) => {
        if (isAway) throw new GateError('server_unreachable', 'away')
        return client.reportProgress(...given)
      },
    })
    const rig = await runWorker(register, { between: away })
    const { task_id } = await rig.client.createTask({ type: 'wait' })
    const context = await started
    await context.progress({ percent: 40, message: 'halfway' })
    isAway = true
    await context.progress({ percent: 50 })
    expect(await rig.client.getTask({ task_id })).toMatchObject({
      status: 'running',
      progress: { percent: 40, message: 'halfway' },
    })
  })

  verifies('SDK-2', 'a lease that cannot be renewed in time is given up as lost', async () => {
    const { register, started, aborted } = waiting()
    const unreachable = (): Partial<Client> => ({
      settle: () => Promise.reject(new GateError('server_unreachable', 'away')),
    })
    const rig = await runWorker(register, { leaseTtlSeconds: 30, between: unreachable })
    await rig.client.createTask({ type: 'wait' })
    const { signal } = await started
    await rig.clock.advance(29_000)
    expect(signal.aborted).toBe(false)
    await rig.clock.advance(1_000)
    expect(await aborted).toMatchObject({ end: 'lost', taskStatus: null })
  })
})

describe('trouble', () => {
  test('an outcome that could not be reported is kept, and reported when the server is back', async () => {
    let isAway = true
    const flaky = (client: Client): Partial<Client> => ({
      settle: (...given) =>
        isAway ? Promise.reject(new GateError('server_unreachable', 'away')) : client.settle(...given),
    })
    const rig = await runWorker((worker) => worker.task('small', () => 'done'), { between: flaky })
    const { task_id } = await rig.client.createTask({ type: 'small' })
    expect(await rig.seen('trouble')).toMatchObject({ message: 'away', retryMs: 500 })
    isAway = false
    await rig.clock.advance(500)
    expect(await rig.client.getTask({ task_id, wait_seconds: 60 })).toMatchObject({ status: 'succeeded' })
  })

  test('a server that is not there yet is waited for', async () => {
    let isAway = true
    const late = (client: Client): Partial<Client> => ({
      getConfig: (...given) =>
        isAway ? Promise.reject(new GateError('server_unreachable', 'away')) : client.getConfig(...given),
    })
    const rig = await runWorker((worker) => worker.task('small', () => 'done'), { between: late })
    await rig.seen('trouble')
    isAway = false
    await rig.clock.advance(500)
    await rig.seen('ready')
  })

  test('a server that refuses for good ends the run with its words', async () => {
    const closed = (): Partial<Client> => ({
      leaseNext: () => Promise.reject(new GateError('unauthenticated', 'No such key.')),
    })
    const { running } = await runWorker((worker) => worker.task('small', () => 'done'), { between: closed })
    await expect(running).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('what is registered twice, too late or not at all is refused', async () => {
    await expect(runWorker(() => {})).rejects.toThrow('Register a handler')
    const { worker } = await runWorker((each) => each.task('small', () => 'done'))
    expect(() => worker.task('more', () => 'done')).toThrow('before run()')
    const twice = (each: Worker) => void each.task('small', () => 1).task('small', () => 2)
    await expect(runWorker(twice)).rejects.toThrow('already')
  })
})

describe('the end', () => {
  test('what a call under way still claims is given back at once', async () => {
    const claimed = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const slow = (client: Client): Partial<Client> => ({
      settle: async (...given) => {
        const reply = await client.settle(...given)
        if (reply.tasks.length > 0) {
          claimed.resolve()
          await answer.promise
        }
        return reply
      },
    })
    const rig = await runWorker((worker) => worker.task('small', () => 'done'), {
      between: slow,
      concurrency: 1,
    })
    const created = await rig.client.createTasks({ tasks: [{ type: 'small' }, { type: 'small' }] })
    await claimed.promise
    const stopped = rig.worker.stop()
    answer.resolve()
    await stopped
    const [, second] = created.tasks
    const task = await rig.client.getTask({ task_id: String(second!.task_id) })
    expect(task).toMatchObject({ status: 'queued', attempt: 0, expiries: 0, fence: 1 })
  })

  verifies(
    'SDK-2',
    'a stop completes what ends within the grace and gives the rest back at once',
    async () => {
      const { register, started, aborted } = waiting()
      const finish = Promise.withResolvers<string>()
      const rig = await runWorker((worker) => {
        register(worker)
        worker.task('finish', () => finish.promise)
      })
      const slow = await rig.client.createTask({ type: 'wait' })
      const quick = await rig.client.createTask({ type: 'finish' })
      await Promise.all([started, rig.seen('started', 2)])
      const stopped = rig.worker.stop({ graceSeconds: 10 })
      finish.resolve('done')
      expect(await rig.client.getTask({ task_id: quick.task_id, wait_seconds: 60 })).toMatchObject({
        status: 'succeeded',
      })
      await rig.clock.advance(10_000)
      await stopped
      expect((await aborted).end).toBe('stopping')
      const task = await rig.client.getTask({ task_id: slow.task_id })
      expect(task).toMatchObject({ status: 'queued', attempt: 0, expiries: 0 })
      expect(Date.parse(task.next_eligible_at)).toBeLessThanOrEqual(rig.clock.now())
      await rig.client.createTask({ type: 'finish' })
      expect(rig.events.at(-1)).toEqual({ kind: 'stopped' })
    },
  )

  test('log lines carry the ids of task and lease', async () => {
    const lines: object[] = []
    const write = (fields: object, message: string) => void lines.push({ ...fields, message })
    const log = { debug: write, info: write, warn: write, error: write }
    const rig = await runWorker(
      (worker) => worker.task('small', (_payload, context) => context.log.info({ step: 1 }, 'at work')),
      { log },
    )
    const { task_id } = await ended(rig, { type: 'small' })
    await rig.seen('ended')
    const ids = { worker_id: 'w1', task_id, lease_id: expect.any(String), type: 'small', attempt: 0 }
    expect(lines).toContainEqual({ ...ids, message: 'task started' })
    expect(lines).toContainEqual({ ...ids, step: 1, message: 'at work' })
    expect(lines).toContainEqual({ ...ids, duration_ms: expect.any(Number), message: 'task completed' })
  })
})
