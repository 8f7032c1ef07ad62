// Waiting: progress on stderr, the result on stdout, the outcome in the exit code.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { testTerminal } from '../../test/terminal.ts'
import { runCli } from './run.ts'

const ID = '0198c0de-0000-7000-8000-000000000001'

function clientOf(tasks: readonly object[]) {
  let at = 0
  return {
    getTask: async () => ({
      task_id: ID,
      progress: null,
      result: null,
      ...tasks[Math.min(at++, tasks.length - 1)],
    }),
  }
}

const succeeded = {
  status: 'succeeded',
  result: { outcome: 'succeeded', result: { a: 1 }, error: null, artifacts: [] },
}
const failed = {
  status: 'failed',
  result: { outcome: 'failed', result: null, error: { code: 'boom', message: 'no' }, artifacts: [] },
}

test('changes are told once each and the result comes last', async () => {
  const running = { status: 'running', progress: { percent: 50, message: 'half' } }
  const terminal = testTerminal({ client: clientOf([{ status: 'queued' }, running, running, succeeded]) })
  expect(await runCli(['task', 'wait', ID], terminal)).toBe(0)
  const { out, err } = terminal.shown()
  expect(err).toBe('queued\nrunning 50% half\nsucceeded\n')
  expect(out).toBe(`task    ${ID}\nresult  {\n          "a": 1\n        }\n`)
})

test('a task that failed is shown with its error, and the exit code is 1', async () => {
  const terminal = testTerminal({ client: clientOf([failed]) })
  expect(await runCli(['task', 'wait', ID], terminal)).toBe(1)
  expect(terminal.shown().out).toContain('"code": "boom"')
})

test('with --json stdout holds the task alone', async () => {
  const terminal = testTerminal({ client: clientOf([{ status: 'queued' }, succeeded]) })
  expect(await runCli(['task', 'wait', ID, '--json'], terminal)).toBe(0)
  expect(JSON.parse(terminal.shown().out)).toMatchObject({ task_id: ID, status: 'succeeded' })
  expect(terminal.shown().err).toBe('')
})

test('when the time is up it says that nothing is lost', async () => {
  const terminal = testTerminal({ client: clientOf([{ status: 'queued' }]) })
  expect(await runCli(['task', 'wait', ID, '--timeout', '0'], terminal)).toBe(1)
  expect(terminal.shown().err).toContain(
    `Still queued. Nothing is lost: ask again with "asyncgate task wait ${ID}".`,
  )
})

/** Each look at the clock is three seconds after the one before. */
function slowTerminal(client: object) {
  let now = 0
  return { ...testTerminal({ client }), now: () => (now += 3_000) }
}

test('a task that stays queued is explained after some seconds, and once for each reason', async () => {
  const reasons = ['No worker takes it.', 'No worker takes it.', 'All leases are in use.']
  const queued = Array.from({ length: 60 }, () => ({ status: 'queued' }))
  const explainTask = async () => ({
    reasons: [{ reason: 'type', message: reasons.shift() ?? 'All leases are in use.' }],
  })
  const terminal = slowTerminal({ ...clientOf([...queued, succeeded]), explainTask })
  expect(await runCli(['task', 'wait', ID], terminal)).toBe(0)
  expect(terminal.shown().err).toBe(
    'queued\nStill queued:\n  No worker takes it.\nStill queued:\n  All leases are in use.\nsucceeded\n',
  )
})

test('nothing is explained of a task that begins soon, nor to programs', async () => {
  const explainTask = () => Promise.reject(new Error('nobody should ask'))
  const soon = slowTerminal({
    ...clientOf([{ status: 'queued' }, { status: 'running' }, succeeded]),
    explainTask,
  })
  expect(await runCli(['task', 'wait', ID], soon)).toBe(0)
  const queued = Array.from({ length: 9 }, () => ({ status: 'queued' }))
  const json = slowTerminal({ ...clientOf([...queued, succeeded]), explainTask })
  expect(await runCli(['task', 'wait', ID, '--json'], json)).toBe(0)
  expect(json.shown().err).toBe('')
})

test('who may not ask why waits all the same', async () => {
  const explainTask = () => Promise.reject(new GateError('forbidden', 'no'))
  const queued = Array.from({ length: 9 }, () => ({ status: 'queued' }))
  const terminal = slowTerminal({ ...clientOf([...queued, succeeded]), explainTask })
  expect(await runCli(['task', 'wait', ID], terminal)).toBe(0)
  expect(terminal.shown().err).toBe('queued\nsucceeded\n')
})
