// Requests that are cut short before or after any single step, and changes that come between any two calls.
import type { Client } from '@asyncgate/sdk'
import { afterEach, expect, test } from 'vitest'
import { openScheduleFile } from '../src/scheduler/file.ts'
import { verifies } from './requirements.ts'
import { closeRigs, Killed, openRig, type SchedulerRig, HOURLY, START } from './scheduler-rig.ts'

afterEach(closeRigs)

const CONFIG = {
  lease: { sweep_interval_seconds: 10, requeue_jitter_seconds: 0 },
  retry: { max_expiries: 0 },
}
/** More than any request takes. */
const STEPS_MAX = 100

/** Serves until the given step, then comes back and serves again. False if there were not that many steps. */
async function serveUntil(rig: SchedulerRig, step: number): Promise<boolean> {
  let left = step
  const fate = () => {
    if (left-- <= 0) throw new Killed()
  }
  const wasKilled = await rig
    .node({ fate })
    .serve()
    .then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
  await rig.clock.advance(30_000) // its lease runs out
  await rig.node().serve()
  return wasKilled
}

async function receiptsOf(rig: SchedulerRig, type: string, scheduleId: string) {
  const { receipts } = await rig.client.listReceipts({ receipt_type: type, limit: 200 })
  return receipts.filter((receipt) => receipt.schedule_id === scheduleId)
}

const LIFE = [
  ['create', 'schedule.created'],
  ['pause', 'schedule.paused'],
  ['resume', 'schedule.resumed'],
  ['delete', 'schedule.deleted'],
] as const

verifies(
  ['SCH-1', 'SCH-3'],
  'killed at every step of every request, each is answered and leaves one receipt',
  async () => {
    const rig = await openRig(START, CONFIG)
    let isEnough = false
    for (let step = 0; !isEnough; step += 1) {
      expect(step).toBeLessThan(STEPS_MAX)
      isEnough = true
      let scheduleId = ''
      for (const [kind, type] of LIFE) {
        const payload = kind === 'create' ? HOURLY : { schedule_id: scheduleId }
        const { task_id } = await rig.ask(`schedule.${kind}`, payload)
        if (kind === 'create') scheduleId = task_id
        if (await serveUntil(rig, step)) isEnough = false
        expect([step, kind, await rig.client.getTask({ task_id })]).toMatchObject([
          step,
          kind,
          { status: 'succeeded' },
        ])
        expect(await receiptsOf(rig, type, scheduleId)).toHaveLength(1)
      }
    }
  },
)

test('a pause that comes between two calls of another scheduler is not lost to it', async () => {
  const rig = await openRig(START)
  const other = rig.node({ path: rig.path('b.db') })
  const create = await rig.ask('schedule.create', HOURLY)
  let calls = 0
  const between = (client: Client): Partial<Client> => ({
    listReceipts: async (...given) => {
      const reply = await client.listReceipts(...given)
      calls += 1
      if (calls === 1) {
        await other.serve()
        await rig.ask('schedule.pause', { schedule_id: create.task_id })
        await other.serve()
      }
      return reply
    },
  })
  await rig.node({ path: rig.path('a.db'), between }).tick()
  const file = openScheduleFile(rig.path('a.db'), 0)
  expect(file.find(create.task_id)).toMatchObject({ pausedBy: expect.any(String) })
  file.close()
})

test('of two processes that have read the same of the ledger one writes it, and the other reads again', async () => {
  const rig = await openRig(START)
  const [first, second] = [openScheduleFile(rig.path('a.db'), 0), openScheduleFile(rig.path('a.db'), 0)]
  const nothing = { isWhole: false, created: [], paused: [], resumed: [], deleted: [] }
  const before = first.followed()
  expect(second.learn(before, { ...nothing, followed: { 'schedule.deleted': 'later' } })).toBe(true)
  expect(first.learn(before, { ...nothing, followed: { 'schedule.created': 'earlier' } })).toBe(false)
  expect(first.followed()).toEqual({ 'schedule.deleted': 'later' })
  first.close()
  second.close()
})
