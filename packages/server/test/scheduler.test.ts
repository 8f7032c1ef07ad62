// What the scheduler does for the owners of schedules: requests, firings, missed runs, pauses, troubles.
import { type Client, GateError } from '@asyncgate/sdk'
import { afterEach, describe, expect, test } from 'vitest'
import { verifies } from './requirements.ts'
import { closeRigs, type Node, openRig, type SchedulerRig, HOURLY, START } from './scheduler-rig.ts'

afterEach(closeRigs)

const HOUR_MS = 3_600_000
const ALICE = { principal_kind: 'agent', principal_id: 'alice' } as const

interface Answer {
  readonly status: string
  readonly result: Record<string, unknown> & { schedule_id: string }
  readonly error: { readonly code: string; readonly message: string } | null
}

/** A request, and what came of it. */
async function asked(
  rig: SchedulerRig,
  node: Node,
  kind: string,
  payload: object,
  owner = 'alice',
): Promise<Answer> {
  const { task_id } = await rig.ask(`schedule.${kind}`, payload, owner)
  await node.serve()
  const task = await rig.client.getTask({ task_id })
  return { status: task.status, ...(task.result as object) } as Answer
}

async function pass(rig: SchedulerRig, node: Node, ms: number): Promise<void> {
  await rig.clock.advance(ms)
  await node.tick()
}

const REFUSED = { error: 'schema_violation', message: 'no', retryable: false } as const

const runTimes = async (rig: SchedulerRig) => (await rig.tasks('job')).map((task) => task.metadata['run_at'])
const hour = (at: number) => `2026-03-27T${String(at).padStart(2, '0')}:00:00.000Z`

describe('a schedule', () => {
  verifies(
    ['SCH-1', 'SCH-3'],
    'is answered with its id and its next runs, and is an obligation',
    async () => {
      const rig = await openRig(START)
      const node = rig.node()
      const { status, result } = await asked(rig, node, 'create', {
        ...HOURLY,
        cron_expr: '0 7 * * 1-5',
        timezone: 'Europe/Berlin',
      })
      expect(status).toBe('succeeded')
      expect(result).toMatchObject({
        status: 'active',
        misfire_policy: 'catch_up_one',
        next_run_at: '2026-03-30T05:00:00.000Z',
        next_runs: ['30', '31']
          .map((day) => `2026-03-${day}T05:00:00.000Z`)
          .concat(['01', '02', '03'].map((day) => `2026-04-${day}T05:00:00.000Z`)),
      })
      const { open_obligations: open } = await rig.client.openObligations(ALICE)
      expect(open).toMatchObject([
        {
          receipt_type: 'schedule.created',
          schedule_id: result.schedule_id,
          from: { kind: 'service', id: 'scheduler' },
          to: { kind: 'agent', id: 'alice' },
          body: { cron_expr: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
        },
      ])
      const deleted = await asked(rig, node, 'delete', { schedule_id: result.schedule_id })
      expect(deleted).toMatchObject({ status: 'succeeded', result: { deleted: true } })
      expect((await rig.client.openObligations(ALICE)).open_obligations).toEqual([])
      expect(
        await rig.client.checkTerminator({ ...ALICE, parent_receipt_id: open[0]!.receipt_id }),
      ).toMatchObject({
        has_terminator: true,
      })
    },
  )

  verifies('SCH-1', 'makes tasks for its owner, rendered and keyed by the run time', async () => {
    const rig = await openRig(START)
    const node = rig.node()
    const { result } = await asked(rig, node, 'create', {
      ...HOURLY,
      task_template: {
        type: 'job',
        payload_template: { run: '{{run_at}}', deep: [{ of: 'schedule {{schedule_id}} at {{now}}' }] },
        requirements: { capabilities: ['gpu'], tags: ['nightly'] },
        priority: 7,
      },
    })
    await rig.clock.advance(HOUR_MS / 2 + 1_500)
    await node.tick()
    const [task] = await rig.tasks('job')
    const { schedule_id } = result
    expect(task).toMatchObject({
      payload: { run: hour(7), deep: [{ of: `schedule ${schedule_id} at 2026-03-27T07:00:01.500Z` }] },
      idempotency_key: `schedule:${schedule_id}:${hour(7)}`,
      created_by: ALICE,
      recipient: ALICE,
      requirements: { capabilities: ['gpu'], tags: ['nightly'] },
      priority: 7,
      summary: 'hourly',
      metadata: { schedule_id, run_at: hour(7) },
      caused_by_receipt_id: expect.any(String),
    })
    expect(await asked(rig, node, 'status', { schedule_id })).toMatchObject({
      result: { last_run_at: hour(7), last_task_id: task!.task_id, next_run_at: hour(8) },
    })
  })

  verifies('SCH-1', 'is jittered in its eligibility alone: the run time names the firing', async () => {
    const rig = await openRig(START)
    const node = rig.node()
    await asked(rig, node, 'create', { ...HOURLY, jitter_seconds: 600 })
    await pass(rig, node, HOUR_MS / 2)
    await pass(rig, node, HOUR_MS)
    const tasks = await rig.tasks('job')
    expect(tasks.map((task) => task.metadata['run_at'])).toEqual([hour(7), hour(8)])
    const delays = tasks.map(
      (task) => Date.parse(task.next_eligible_at) - Date.parse(String(task.metadata['run_at'])),
    )
    expect(new Set(delays).size).toBe(2)
    for (const delayMs of delays) {
      expect(delayMs).toBeGreaterThan(0)
      expect(delayMs).toBeLessThanOrEqual(600_000)
    }
  })

  test('counts an interval from when it was asked for, however late it was taken', async () => {
    const rig = await openRig('2026-03-27T06:30:17.250Z')
    const node = rig.node()
    const { task_id } = await rig.ask('schedule.create', {
      name: 'n',
      mode: 'interval',
      interval_seconds: 600,
      task_template: { type: 'job' },
    })
    await rig.clock.advance(60_000)
    await node.serve()
    await pass(rig, node, 1_200_000)
    expect((await rig.tasks('job')).map((task) => task.idempotency_key)).toEqual([
      `schedule:${task_id}:2026-03-27T06:50:17.250Z`,
    ])
  })
})

describe('requests', () => {
  const BAD = [
    [{ cron_expr: '* * * * * *' }, 'cron_expr'],
    [{ cron_expr: '0 0 30 2 *' }, 'cron_expr'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ misfire_policy: 'sometimes' }, 'misfire_policy'],
    [{ jitter_seconds: -1 }, 'jitter_seconds'],
    [{ mode: 'interval', cron_expr: undefined, interval_seconds: 0 }, 'interval_seconds'],
    [{ task_template: { type: 'schedule.create' } }, 'type'],
    [{ task_template: { type: 'job', payload: {} } }, 'payload'],
    [{ surplus: 1 }, 'surplus'],
  ] as const
  test.each(BAD)('%j is refused for good, and the field is named', async (wrong, field) => {
    const rig = await openRig(START)
    const { status, error } = await asked(rig, rig.node(), 'create', { ...HOURLY, ...wrong })
    expect(status).toBe('failed')
    expect(error).toMatchObject({ code: 'invalid_payload', message: expect.stringContaining(field) })
    expect((await rig.client.listReceipts({ receipt_type: 'schedule.created' })).receipts).toEqual([])
  })

  test("a template that does not fit into a receipt is refused in the server's words", async () => {
    const rig = await openRig(START)
    const payload_template = { text: 'x'.repeat(70_000) }
    const answer = await asked(rig, rig.node(), 'create', {
      ...HOURLY,
      task_template: { type: 'job', payload_template },
    })
    expect(answer).toMatchObject({ status: 'failed', error: { code: 'receipt_too_large' } })
  })

  verifies('SCH-1', "another's schedule is not to be seen, paused or deleted", async () => {
    const rig = await openRig(START)
    const node = rig.node()
    const { result } = await asked(rig, node, 'create', HOURLY)
    const payload = { schedule_id: result.schedule_id }
    for (const kind of ['status', 'pause', 'resume', 'delete'])
      expect(await asked(rig, node, kind, payload, 'mallory')).toMatchObject({
        status: 'failed',
        error: { code: 'not_found' },
      })
    const unknown = { schedule_id: '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03' }
    for (const kind of ['status', 'delete'])
      expect(await asked(rig, node, kind, unknown)).toMatchObject({ error: { code: 'not_found' } })
    expect(await asked(rig, node, 'list', {}, 'mallory')).toMatchObject({ result: { schedules: [] } })
    expect(await asked(rig, node, 'list', {})).toMatchObject({
      result: { schedules: [payload], next_cursor: null },
    })
  })

  test('a list has pages', async () => {
    const rig = await openRig(START)
    const node = rig.node()
    for (let count = 0; count < 101; count += 1) await rig.ask('schedule.create', HOURLY)
    const first = await asked(rig, node, 'list', {})
    const { schedules, next_cursor: cursor } = first.result as unknown as {
      schedules: object[]
      next_cursor: string
    }
    const rest = await asked(rig, node, 'list', { cursor })
    expect(schedules).toHaveLength(100)
    expect(rest.result).toMatchObject({ schedules: [expect.anything()], next_cursor: null })
  })

  verifies('SCH-1', 'a paused schedule does not run; resumed, it goes on with the next run', async () => {
    const rig = await openRig(START)
    const node = rig.node()
    const { result } = await asked(rig, node, 'create', { ...HOURLY, misfire_policy: 'catch_up_all' })
    const payload = { schedule_id: result.schedule_id }
    await pass(rig, node, HOUR_MS)
    expect(await asked(rig, node, 'pause', payload)).toMatchObject({
      result: { status: 'paused', next_run_at: null, next_runs: [] },
    })
    expect(await asked(rig, node, 'pause', payload)).toMatchObject({ result: { status: 'paused' } })
    await pass(rig, node, 3 * HOUR_MS)
    expect(await asked(rig, node, 'resume', payload)).toMatchObject({
      result: { status: 'active', next_run_at: hour(11) },
    })
    await pass(rig, node, HOUR_MS)
    expect(await runTimes(rig)).toEqual([hour(7), hour(11)])
    expect(await asked(rig, node, 'pause', payload)).toMatchObject({ result: { status: 'paused' } })
  })

  verifies('SCH-2', 'a scheduler with another file knows, pauses and deletes it all the same', async () => {
    const rig = await openRig(START)
    const [first, second] = [rig.node({ path: rig.path('a.db') }), rig.node({ path: rig.path('b.db') })]
    const { result } = await asked(rig, first, 'create', HOURLY)
    const payload = { schedule_id: result.schedule_id }
    await second.tick()
    await pass(rig, first, HOUR_MS / 2)
    await second.tick()
    expect(await runTimes(rig)).toEqual([hour(7)])
    expect(await asked(rig, second, 'pause', payload)).toMatchObject({ result: { status: 'paused' } })
    await pass(rig, first, HOUR_MS)
    expect(await asked(rig, first, 'status', payload)).toMatchObject({ result: { status: 'paused' } })
    expect(await asked(rig, first, 'resume', payload)).toMatchObject({ result: { status: 'active' } })
    await pass(rig, second, HOUR_MS)
    expect(await runTimes(rig)).toEqual([hour(7), hour(9)])
    await asked(rig, second, 'delete', payload)
    await pass(rig, first, 5 * HOUR_MS)
    expect(await runTimes(rig)).toEqual([hour(7), hour(9)])
  })
})

describe('missed runs', () => {
  /** Runs at 7 and 8; then nobody is there until 11:30. */
  async function away(misfire_policy: string) {
    const rig = await openRig(START)
    const node = rig.node()
    await asked(rig, node, 'create', { ...HOURLY, misfire_policy })
    await pass(rig, node, HOUR_MS / 2)
    await pass(rig, node, HOUR_MS)
    node.close()
    await rig.clock.advance(3.5 * HOUR_MS)
    const again = rig.node()
    await again.tick()
    await again.tick()
    const found = (await runTimes(rig)).slice(2)
    await pass(rig, again, HOUR_MS / 2) // and on it goes
    return { found, next: (await runTimes(rig)).at(-1) }
  }
  const POLICIES = [
    ['skip', []],
    ['catch_up_one', [11]],
    ['catch_up_all', [9, 10, 11]],
  ] as const
  for (const [policy, hours] of POLICIES)
    verifies('SCH-2', `${policy} makes up for ${hours.length} of three`, async () => {
      expect(await away(policy)).toEqual({ found: hours.map(hour), next: hour(12) })
    })

  verifies(
    'OBL-6',
    'a schedule later than twice its interval is told once, one that is less late is not',
    async () => {
      const rig = await openRig(START)
      const node = rig.node()
      const { result } = await asked(rig, node, 'create', HOURLY)
      const told = async () => (await rig.client.listReceipts({ receipt_type: 'schedule.overdue' })).receipts
      await pass(rig, node, 2.5 * HOUR_MS) // due at 7, found at 9: exactly twice
      expect(await told()).toEqual([])
      await pass(rig, node, 3 * HOUR_MS + 1) // due at 10, found after 12
      await node.tick()
      expect(await told()).toMatchObject([
        {
          schedule_id: result.schedule_id,
          to: { kind: 'agent', id: 'alice' },
          body: { kind: 'schedule_overdue', details: { run_at: hour(10), interval_seconds: 3_600 } },
        },
      ])
      expect((await rig.client.openObligations(ALICE)).open_obligations).not.toContainEqual(
        expect.objectContaining({ receipt_type: 'schedule.overdue' }),
      )
    },
  )

  verifies(
    'OBL-6',
    'one whose runs are refused is told as overdue, once, whatever the policy and the interval',
    async () => {
      const rig = await openRig(START)
      const answers = { refuse: true }
      const between = (client: Client): Partial<Client> => ({
        createTasks: async (...given) =>
          answers.refuse ? { tasks: given[0].tasks.map(() => REFUSED) } : client.createTasks(...given),
      })
      const node = rig.node({ between })
      const { schedule_id: hourly } = (await asked(rig, node, 'create', HOURLY)).result
      const skipping = { ...HOURLY, misfire_policy: 'skip' }
      const { schedule_id: skipped } = (await asked(rig, node, 'create', skipping)).result
      const often = { ...HOURLY, cron_expr: undefined, mode: 'interval', interval_seconds: 10 }
      const { schedule_id: quick } = (await asked(rig, node, 'create', often)).result
      const told = async () => {
        const { receipts } = await rig.client.listReceipts({ receipt_type: 'schedule.overdue' })
        return Object.fromEntries(receipts.map(({ schedule_id, body }) => [schedule_id, body['details']]))
      }
      for (let minute = 0; minute < 149; minute += 1) await pass(rig, node, 60_000)
      expect(await told()).toMatchObject({ [quick]: { run_at: '2026-03-27T06:30:10.000Z' } })
      expect(Object.keys(await told())).toEqual([quick])
      for (let minute = 0; minute < 150; minute += 1) await pass(rig, node, 60_000)
      const late = { run_at: hour(7), interval_seconds: 3_600 }
      expect(await told()).toMatchObject({ [hourly]: late, [skipped]: late })
      const count = async () =>
        (await rig.client.listReceipts({ receipt_type: 'schedule.overdue' })).receipts.length
      expect(await count()).toBe(3)
      expect((await asked(rig, node, 'status', { schedule_id: skipped })).result['last_error']).toBe(
        'schema_violation: no',
      )
      await asked(rig, node, 'delete', { schedule_id: quick })
      answers.refuse = false
      for (let minute = 0; minute < 90; minute += 1) await pass(rig, node, 60_000)
      expect(await count()).toBe(3)
      expect((await asked(rig, node, 'status', { schedule_id: skipped })).result['last_error']).toBe(null)
    },
  )

  test('one that slept while another fired finds nothing overdue', async () => {
    const rig = await openRig(START)
    const [first, second] = [rig.node({ path: rig.path('a.db') }), rig.node({ path: rig.path('b.db') })]
    await asked(rig, first, 'create', HOURLY)
    await second.tick()
    for (let count = 0; count < 6; count += 1) await pass(rig, first, HOUR_MS)
    await second.tick()
    expect((await rig.client.listReceipts({ receipt_type: 'schedule.overdue' })).receipts).toEqual([])
    expect(await runTimes(rig)).toEqual([7, 8, 9, 10, 11, 12].map(hour))
  })
})

describe('troubles', () => {
  verifies(
    'SCH-2',
    'a clock that was years ahead costs no run once it is right, also after a restart',
    async () => {
      const rig = await openRig(START)
      let aheadMs = 0
      const parts = { aheadMs: () => aheadMs }
      const node = rig.node(parts)
      await asked(rig, node, 'create', HOURLY)
      await pass(rig, node, HOUR_MS)
      aheadMs = 3 * 365 * 24 * HOUR_MS
      await node.tick()
      aheadMs = 0
      await pass(rig, node, HOUR_MS)
      aheadMs = 24 * HOUR_MS
      await node.tick()
      aheadMs = 0
      node.close()
      await pass(rig, rig.node(parts), HOUR_MS)
      const until = hour(9)
      expect((await runTimes(rig)).filter((at) => String(at) <= until)).toEqual([7, 8, 9].map(hour))
    },
  )

  test('a run that the server refuses is tried again, keeps no other schedule from running, and status says why', async () => {
    const rig = await openRig(START)
    let isRefusing = true
    const between = (client: Client): Partial<Client> => ({
      createTasks: async (...given) =>
        isRefusing && given[0].tasks[0]!.type === 'job'
          ? { tasks: given[0].tasks.map(() => REFUSED) }
          : client.createTasks(...given),
    })
    const node = rig.node({ between })
    const { result } = await asked(rig, node, 'create', HOURLY)
    await asked(rig, node, 'create', { ...HOURLY, task_template: { type: 'other' } })
    await pass(rig, node, HOUR_MS / 2)
    expect(await rig.tasks('other')).toHaveLength(1)
    const payload = { schedule_id: result.schedule_id }
    expect(await asked(rig, node, 'status', payload)).toMatchObject({
      result: { last_error: 'schema_violation: no', next_run_at: hour(7) },
    })
    isRefusing = false
    await pass(rig, node, 60_000)
    expect(await runTimes(rig)).toEqual([hour(7)])
    expect(await asked(rig, node, 'status', payload)).toMatchObject({
      result: { last_error: null, next_run_at: hour(8) },
    })
  })

  test('a server that is away costs nothing but time', async () => {
    const rig = await openRig(START)
    let isAway = false
    const between = (client: Client): Partial<Client> => ({
      createTasks: async (...given) => {
        if (isAway) throw new GateError('database_unavailable', 'away')
        return client.createTasks(...given)
      },
    })
    const node = rig.node({ between })
    await asked(rig, node, 'create', HOURLY)
    isAway = true
    await expect(pass(rig, node, HOUR_MS / 2)).rejects.toThrow('away')
    isAway = false
    await node.tick()
    expect(await runTimes(rig)).toEqual([hour(7)])
  })

  test('a file that is lost is written again from the ledger, pauses included', async () => {
    const rig = await openRig(START)
    const node = rig.node()
    const kept = await asked(rig, node, 'create', HOURLY)
    const paused = await asked(rig, node, 'create', HOURLY)
    const deleted = await asked(rig, node, 'create', HOURLY)
    await asked(rig, node, 'pause', { schedule_id: paused.result.schedule_id })
    await asked(rig, node, 'delete', { schedule_id: deleted.result.schedule_id })
    await pass(rig, node, HOUR_MS / 2)
    const anew = rig.node({ path: rig.path('new.db') })
    await pass(rig, anew, HOUR_MS)
    expect(await asked(rig, anew, 'list', {})).toMatchObject({
      result: {
        schedules: [
          { schedule_id: kept.result.schedule_id, status: 'active' },
          { schedule_id: paused.result.schedule_id, status: 'paused' },
        ],
      },
    })
    expect(await runTimes(rig)).toEqual([hour(7), hour(8)])
  })

  test('a file that belongs to another ledger gives way to the one that is there', async () => {
    const before = await openRig(START)
    const node = before.node()
    await asked(before, node, 'create', HOURLY)
    node.close()
    const rig = await openRig(START)
    const here = rig.node({ path: before.path('schedules.db') })
    const { result } = await asked(rig, here, 'create', { ...HOURLY, name: 'here' })
    expect(await asked(rig, here, 'list', {})).toMatchObject({
      result: { schedules: [{ schedule_id: result.schedule_id, name: 'here' }] },
    })
    await pass(rig, here, HOUR_MS / 2)
    expect(await runTimes(rig)).toEqual([hour(7)])
  })
})
