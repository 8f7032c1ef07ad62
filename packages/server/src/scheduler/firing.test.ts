// What a run is asked for as: the same by everyone, but for {{now}}.
import { expect, test } from 'vitest'
import { taskFor } from './firing.ts'
import { Definition, type Schedule } from './schedule.ts'

const HOUR_MS = 3_600_000
const schedule = (jitter_seconds: number): Schedule => ({
  scheduleId: 'one',
  owner: { principal_kind: 'agent', principal_id: 'alice' },
  definition: Definition.parse({
    name: 'n',
    mode: 'interval',
    interval_seconds: 3_600,
    jitter_seconds,
    task_template: { type: 'job' },
    starts_at: '2026-01-01T00:00:00.000Z',
    tasks_created_by: { principal_kind: 'agent', principal_id: 'alice' },
  }),
  createdReceiptId: '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03',
  pausedBy: null,
  nextRunAt: 0,
  lastRunAt: null,
  lastTaskId: null,
  lastError: null,
  unfiredSince: null,
})
const delayOf = (jitterSeconds: number, at: number) =>
  Date.parse(taskFor(schedule(jitterSeconds), { at, now: at }).not_before!) - at

test('two schedulers ask for the same task, whenever they do', () => {
  const [first, second] = [0, 5_000].map((lateMs) =>
    taskFor(schedule(600), { at: HOUR_MS, now: HOUR_MS + lateMs }),
  )
  expect(first).toEqual(second)
})

test('jitter spreads runs over all of its time and no more; without it there is no delay', () => {
  const delays = Array.from({ length: 200 }, (_, at) => delayOf(600, at * HOUR_MS))
  expect(Math.min(...delays)).toBeLessThan(60_000)
  expect(Math.max(...delays)).toBeGreaterThan(540_000)
  expect(Math.max(...delays)).toBeLessThanOrEqual(600_000)
  expect(delayOf(0, HOUR_MS)).toBe(0)
})
