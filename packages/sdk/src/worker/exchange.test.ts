// How many reports are under way at once, and what each asks for, with a server that answers when the test says.
import { expect, test } from 'vitest'
import { GateError } from '../errors.ts'
import type { WorkerClock } from './clock.ts'
import { createExchange, type ExchangeParts } from './exchange.ts'
import type { LeasedTask } from './execution.ts'
import type { Report, ReportAnswer } from './report.ts'

interface Settle {
  readonly outcomes: readonly { readonly task_id: string }[]
  readonly claim?: { readonly max_tasks?: number }
}

interface Asked extends Settle {
  answer(): void
  fail(error: unknown): void
}

const turns = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** An exchange that holds as many tasks as it may. */
async function setUp(concurrency: number) {
  const asked: Asked[] = []
  const held: LeasedTask[] = []
  const given: number[] = []
  const waits: number[] = []
  /** To the reports of the first task. */
  const answers: ReportAnswer[] = []
  const waiting = new Set<() => void>()
  let made = 0
  const tasks = (count: number) =>
    Array.from({ length: count }, () => ({ task_id: `t${(made += 1)}`, lease_id: `l${made}` }) as LeasedTask)
  const settle = (input: Settle) =>
    new Promise((resolve, reject) => {
      const answer = () =>
        resolve({
          outcomes: input.outcomes.map(() => ({ ok: true })),
          tasks: tasks(input.claim?.max_tasks ?? 0),
        })
      asked.push({ ...input, answer, fail: reject })
    })
  const client = {
    settle,
    leaseNext: async ({ max_tasks: max = 0 }: { max_tasks?: number }) => ({ tasks: tasks(max) }),
  } as unknown as ExchangeParts['client'] // the two calls that it makes, with the fields that it reads
  const clock: WorkerClock = {
    now: () => 0,
    after: (_ms, run) => {
      waiting.add(run)
      return () => void waiting.delete(run)
    },
  }
  const exchange = createExchange({
    client,
    worker: { worker_id: 'w' },
    claim: {},
    waitSeconds: 30,
    concurrency,
    clock,
    onTasks: (claimed) => {
      held.push(...claimed)
      given.push(held.length)
    },
    onAnswer: ({ execution }, answer) => {
      if (execution.task.task_id === 't1') answers.push(answer)
    },
    onTrouble: (_message, retryMs) => waits.push(retryMs),
    onFatal: (error) => {
      throw error
    },
  })
  exchange.start()
  await turns()
  const end = (count: number) => {
    // All that is read of an execution here is its task.
    for (const task of held.splice(0, count))
      exchange.end({
        execution: { task },
        outcome: { action: 'complete' },
        durationMs: 0,
      } as unknown as Report)
  }
  /** All waits are over. */
  const pass = () => {
    for (const run of waiting) run()
    waiting.clear()
  }
  return { asked, given, waits, answers, end, pass }
}

const sizes = (asked: readonly Asked[]) =>
  asked.map(({ outcomes, claim }) => [outcomes.length, claim?.max_tasks ?? 0])

test('many outcomes that end together are reported by two calls at once, which ask for their places', async () => {
  const { asked, end } = await setUp(400)
  end(400)
  await turns()
  expect(sizes(asked)).toEqual([
    [200, 200],
    [200, 200],
  ])
})

test('where the rest would be too few for another report, all go in one', async () => {
  const { asked, end } = await setUp(150)
  end(150)
  await turns()
  expect(sizes(asked)).toEqual([[150, 150]])
})

test('few outcomes wait for the report that is under way', async () => {
  const { asked, end } = await setUp(400)
  end(50)
  await turns()
  end(99)
  await turns()
  expect(sizes(asked)).toEqual([[50, 50]])
  asked[0]!.answer()
  await turns()
  expect(sizes(asked)).toEqual([
    [50, 50],
    [99, 99],
  ])
})

test('never more tasks than there are places', async () => {
  const { asked, end, given } = await setUp(400)
  for (let round = 0; round < 5; round += 1) {
    end(130 + round * 50)
    await turns()
    for (const call of asked.splice(0)) call.answer()
    await turns()
  }
  expect(Math.max(...given)).toBe(400)
})

test('while the server cannot be reached there is one report at a time', async () => {
  const { asked, end } = await setUp(400)
  end(200)
  await turns()
  asked.shift()!.fail(new GateError('server_unreachable', 'away'))
  await turns()
  end(200)
  await turns()
  expect(asked).toHaveLength(0) // it waits, on a clock that stands still
})

test('a report that succeeds says nothing of one that has failed beside it', async () => {
  const { asked, end, waits } = await setUp(400)
  end(400)
  await turns()
  const [failing, other] = asked.splice(0)
  failing!.fail(new GateError('rate_limit_exceeded', 'slower', { retry_after: 30 }))
  await turns()
  other!.answer()
  await turns()
  expect(asked).toHaveLength(0) // the wait is over when the clock says so, and it stands still
  expect(waits).toEqual([30_000])
})

test('an outcome that the server cannot take is given up, however well others fare beside it', async () => {
  const { asked, answers, end, pass } = await setUp(400)
  end(1)
  await turns()
  end(399)
  await turns()
  for (let round = 0; round < 40 && answers.length === 0; round += 1) {
    // The first task's outcome always fails, what goes beside it succeeds afterwards.
    const calls = asked.splice(0).toSorted((a, b) => Number(holdsFirst(b)) - Number(holdsFirst(a)))
    for (const call of calls) {
      if (holdsFirst(call)) call.fail(new GateError('internal_error', 'broken'))
      else call.answer()
      await turns()
    }
    end(400)
    pass()
    await turns()
  }
  expect(answers).toEqual([{ ok: false, error: 'internal_error', message: 'broken' }])
})

const holdsFirst = ({ outcomes }: Asked) => outcomes.some(({ task_id: taskId }) => taskId === 't1')

test('two reports that fail together have failed once', async () => {
  const { asked, end, waits } = await setUp(400)
  end(400)
  await turns()
  for (const call of asked.splice(0)) call.fail(new GateError('internal_error', 'broken'))
  await turns()
  expect(waits).toEqual([500, 500])
})
