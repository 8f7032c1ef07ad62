// Days of schedules in no time, with schedulers that are killed a hundred times at points that chance chooses, across changes of
// clocks in both directions: every run time has exactly one task, and every schedule one beginning and one end in the ledger.
import { afterEach, expect } from 'vitest'
import { calendarOf } from '../src/scheduler/calendar.ts'
import { verifies } from './requirements.ts'
import { closeRigs, Killed, type Node, openRig, type SchedulerRig } from './scheduler-rig.ts'
import { createSeededRandom } from './seeded-random.ts'

afterEach(closeRigs)

const KILLS = 100
const SEED = 7
const HOUR_MS = 3_600_000
/** Steps of a scheduler from its start to its death, at most. */
const LIFE_STEPS_MAX = 60
const DOWN_MS_MAX = 5 * HOUR_MS

const TIMINGS = [
  { mode: 'cron', cron_expr: '0 * * * *', timezone: 'Europe/Berlin' },
  { mode: 'cron', cron_expr: '30 2 * * *', timezone: 'Europe/Berlin' },
  { mode: 'cron', cron_expr: '15 1,2 * * *', timezone: 'America/New_York' },
  { mode: 'cron', cron_expr: '10 2 * * *', timezone: 'Australia/Lord_Howe' },
  { mode: 'cron', cron_expr: '45 1 * * *', timezone: 'Australia/Lord_Howe' },
  { mode: 'interval', interval_seconds: 10_000, timezone: 'UTC' },
] as const

/** From the first of these weeks' changes of the clock to after the last, in both halves of the year. */
const SCENES = [
  { season: 'spring', start: '2026-03-06', end: '2026-04-07', files: 'one file', paths: ['a.db', 'a.db'] },
  { season: 'autumn', start: '2026-10-02', end: '2026-11-03', files: 'a file each', paths: ['a.db', 'b.db'] },
] as const

interface Life {
  readonly path: string
  node: Node | undefined
  stepsLeft: number
  upAt: number
}

function simulate(rig: SchedulerRig, paths: readonly string[], seed: number) {
  const random = createSeededRandom(seed)
  const lives: Life[] = paths.map((path) => ({ path, node: undefined, stepsLeft: 0, upAt: 0 }))
  let kills = 0

  function begin(life: Life): Node {
    life.stepsLeft = 1 + random.below(LIFE_STEPS_MAX)
    // Each life has its own count: what a dead one still does, it does no more.
    let isDead = false
    const fate = () => {
      if (isDead || (kills < KILLS && life.stepsLeft-- <= 0)) {
        isDead = true
        throw new Killed()
      }
    }
    return openNode(life, fate)
  }

  function openNode(life: Life, fate: () => void): Node {
    return rig.node({ path: rig.path(life.path), fate })
  }

  async function live(life: Life): Promise<void> {
    if (life.upAt > rig.clock.now()) return
    try {
      life.node ??= begin(life)
      await life.node.serve()
      await life.node.tick()
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      kills += 1
      life.node = undefined
      // Some are restarted at once.
      life.upAt = rig.clock.now() + random.below(2) * random.below(DOWN_MS_MAX)
    }
  }

  return {
    kills: () => kills,
    /** Until that time, in steps that chance chooses. */
    async pass(until: number): Promise<void> {
      while (rig.clock.now() < until) {
        const stepMs = random.below(4) === 0 ? random.below(8 * HOUR_MS) : random.below(1.5 * HOUR_MS)
        await rig.clock.advance(Math.min(stepMs + 1, until - rig.clock.now()))
        // Side by side: the calls of one come between those of the other.
        await Promise.all(lives.map(live))
      }
    },
  }
}

const CONFIG = {
  lease: { sweep_interval_seconds: 600, requeue_jitter_seconds: 0 },
  retry: { max_expiries: 0 },
}

for (const { season, start, end, files, paths } of SCENES)
  verifies(
    ['SCH-1', 'SCH-2', 'SCH-3'],
    `two schedulers with ${files}, killed ${KILLS} times in ${season}, fire every run once`,
    async () => {
      const rig = await openRig(start, CONFIG)
      const world = simulate(rig, paths, SEED)
      const requests = TIMINGS.map((timing, at) => ({
        ...{
          name: `schedule ${at}`,
          misfire_policy: 'catch_up_all',
          jitter_seconds: at * 100,
          ...timing,
        },
        task_template: { type: `job.${at}`, payload_template: { at: '{{run_at}}', now: '{{now}}' } },
      }))
      const created = await Promise.all(requests.map((request) => rig.ask('schedule.create', request)))
      const endsAt = Date.parse(end)
      await world.pass(endsAt)
      expect(world.kills()).toBe(KILLS)
      await world.pass(endsAt + 2 * DOWN_MS_MAX) // all are up again
      const until = rig.clock.now()

      for (const [at, timing] of TIMINGS.entries()) {
        const calendar = calendarOf(timing, { timezone: timing.timezone, startsAt: Date.parse(start) })
        const runs: string[] = []
        for (let run = calendar.after(0); run !== null && run <= until; run = calendar.after(run))
          runs.push(new Date(run).toISOString())
        const tasks = await rig.tasks(`job.${at}`)
        expect(tasks.map(({ payload }) => String(payload['at'])).toSorted()).toEqual(runs)
        for (const task of tasks) {
          const key = `schedule:${created[at]!.task_id}:${String(task.payload['at'])}`
          expect(task.idempotency_key).toBe(key)
        }
      }

      const deletions = created.map(({ task_id }) => rig.ask('schedule.delete', { schedule_id: task_id }))
      await Promise.all(deletions)
      await world.pass(until + HOUR_MS)
      const count = (await rig.tasks('job.5')).length
      await world.pass(until + 5 * HOUR_MS)
      expect((await rig.tasks('job.5')).length).toBe(count)
      for (const type of ['schedule.created', 'schedule.deleted']) {
        const { receipts } = await rig.client.listReceipts({ receipt_type: type })
        expect(receipts.map((receipt) => String(receipt.schedule_id)).toSorted()).toEqual(
          created.map(({ task_id }) => task_id).toSorted(),
        )
      }
      const { open_obligations: owed } = await rig.client.openObligations({
        principal_id: 'alice',
        limit: 200,
      })
      expect(owed.filter((receipt) => receipt.receipt_type !== 'task.assigned')).toEqual([])
    },
  )
