// Run times against an oracle that walks over every minute of the wall clock, around the days on which clocks are set.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calendarOf } from './calendar.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Some before the days that are looked at, so that the oracle has seen the first of two equal times. */
const MARGIN_DAYS = 2

const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['America/Santiago', '2026-04-05'],
  ['America/Santiago', '2026-09-06'],
  ['Asia/Kolkata', '2026-02-28'],
  ['Asia/Kolkata', '2026-05-01'],
  ['America/New_York', '2027-01-01'],
  ['Europe/Berlin', '2026-02-28'],
  ['UTC', '2024-02-29'],
  ['UTC', '2026-12-01'],
] as const

interface Minute {
  readonly at: number
  /** The wall clock's reading, as if it were UTC. */
  readonly wall: number
}

const minutesOf = new Map<string, readonly Minute[]>()

function minutesAround(zone: string, date: string): readonly Minute[] {
  const known = minutesOf.get(zone + date)
  if (known) return known
  const clock = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const middle = Date.parse(date)
  const minutes: Minute[] = []
  for (let at = middle - MARGIN_DAYS * DAY_MS; at < middle + MARGIN_DAYS * DAY_MS; at += MINUTE_MS)
    minutes.push({ at, wall: Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) })
  minutesOf.set(zone + date, minutes)
  return minutes
}

interface Fields {
  readonly minute: readonly number[] | null
  readonly hour: readonly number[] | null
  readonly day: readonly number[] | null
  readonly month: readonly number[] | null
  readonly weekday: readonly number[] | null
}

const expressionOf = ({ minute, hour, day, month, weekday }: Fields) =>
  [minute, hour, day, month, weekday].map((field) => field?.join(',') ?? '*').join(' ')

function matches(fields: Fields, wall: number): boolean {
  const date = new Date(wall)
  const fits = (field: readonly number[] | null, value: number) => field === null || field.includes(value)
  const isDay = fits(fields.day, date.getUTCDate())
  const isWeekday = fits(fields.weekday, date.getUTCDay())
  // Of two restrictions of the day, one suffices: so cron has always been.
  const either = fields.day !== null && fields.weekday !== null ? isDay || isWeekday : isDay && isWeekday
  return (
    fits(fields.minute, date.getUTCMinutes()) &&
    fits(fields.hour, date.getUTCHours()) &&
    fits(fields.month, date.getUTCMonth() + 1) &&
    either
  )
}

/** One time of day is kept once a day; several, or every so often, follow the wall clock through whatever it shows. */
function oracle(fields: Fields, minutes: readonly Minute[]): number[] {
  const isOneTime = fields.minute?.length === 1 && fields.hour?.length === 1
  const seen = new Set<number>()
  const runs: number[] = []
  let before = minutes[0]!.wall
  for (const { at, wall } of minutes) {
    const skipped: number[] = []
    for (let gone = before + MINUTE_MS; gone < wall; gone += MINUTE_MS) skipped.push(gone)
    const isFirst = !seen.has(wall)
    seen.add(wall)
    if (matches(fields, wall) && (!isOneTime || isFirst)) runs.push(at)
    else if (isOneTime && skipped.some((gone) => matches(fields, gone))) runs.push(at)
    before = wall
  }
  return runs
}

const someOf = (min: number, max: number, maxLength: number) =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength })
    .map((values) => values.toSorted((a, b) => a - b))

const anyFields: fc.Arbitrary<Fields> = fc.record({
  minute: fc.oneof(fc.constant(null), someOf(0, 59, 3), fc.constantFrom([0], [15], [30], [0, 30])),
  hour: fc.oneof(fc.constant(null), someOf(0, 23, 3), fc.constantFrom([0], [1], [2], [3], [1, 2, 3])),
  day: fc.option(someOf(1, 31, 10), { freq: 3 }),
  month: fc.option(someOf(1, 12, 6), { freq: 2 }),
  weekday: fc.option(someOf(0, 6, 3), { freq: 3 }),
})

const RUNS_COMPARED = 12

describe('cron', () => {
  test.each(CHANGES)(
    'in %s around %s the next and the last run are those of the wall clock',
    (zone, date) => {
      const minutes = minutesAround(zone, date)
      const from = minutes[0]!.at + DAY_MS // a time that occurs twice must be seen from its first
      const end = minutes.at(-1)!.at
      fc.assert(
        fc.property(anyFields, fc.integer({ min: 0, max: 2 * DAY_MS }), (fields, offsetMs) => {
          const calendar = calendarOf(
            { mode: 'cron', cron_expr: expressionOf(fields) },
            { timezone: zone, startsAt: 0 },
          )
          const start = from + offsetMs
          const all = oracle(fields, minutes)
          const expected = all.filter((at) => at > start).slice(0, RUNS_COMPARED)
          const found: number[] = []
          for (
            let at = calendar.after(start);
            at !== null && at <= end && found.length < RUNS_COMPARED;
            at = calendar.after(at)
          )
            found.push(at)
          expect(found.map((at) => new Date(at))).toEqual(expected.map((at) => new Date(at)))
          const last = all.findLast((at) => at <= start)
          if (last !== undefined) expect(new Date(calendar.lastUntil(start)!)).toEqual(new Date(last))
        }),
        { numRuns: 40 },
      )
    },
  )

  const berlin = (cron_expr: string, date: string, count: number) => {
    const calendar = calendarOf({ mode: 'cron', cron_expr }, { timezone: 'Europe/Berlin', startsAt: 0 })
    const runs: string[] = []
    for (let at = calendar.after(Date.parse(date)); runs.length < count; at = calendar.after(at!))
      runs.push(new Date(at!).toISOString())
    return runs
  }

  test('a time that the clock leaves out is kept when it has jumped; one that it shows twice is kept once', () => {
    expect(berlin('30 2 * * *', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    expect(berlin('30 2 * * *', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  test('the first of a month is not passed over for the 31st that the month before does not have', () => {
    const calendar = calendarOf({ mode: 'cron', cron_expr: '0 0 1,31 * *' }, { timezone: 'UTC', startsAt: 0 })
    expect(calendar.after(Date.UTC(2026, 1, 10))).toBe(Date.UTC(2026, 2, 1))
  })

  test('every hour is every hour, whatever the clock shows', () => {
    expect(berlin('0 * * * *', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ])
  })

  test.each([
    '* * * * * *',
    '@daily',
    '? 2 * * *',
    '2026-01-01T00:00:00',
    '61 * * * *',
    '* * * *',
    '',
    'a b c d e',
  ])('what is not five fields of cron is refused: "%s"', (cron_expr) => {
    expect(() => calendarOf({ mode: 'cron', cron_expr }, { timezone: 'UTC', startsAt: 0 })).toThrow()
  })
})

test('intervals are counted from their start, whoever asks and when', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 0, max: 1e12 }),
      fc.integer({ min: -1e6, max: 1e9 }),
      (interval_seconds, startsAt, offsetMs) => {
        const calendar = calendarOf({ mode: 'interval', interval_seconds }, { timezone: 'UTC', startsAt })
        const at = startsAt + offsetMs
        const [next, last] = [calendar.after(at)!, calendar.lastUntil(at)]
        expect(next).toBeGreaterThan(at)
        expect((next - startsAt) % (interval_seconds * 1_000)).toBe(0)
        expect(next - interval_seconds * 1_000).toBeLessThanOrEqual(Math.max(at, startsAt))
        expect(last).toBe(offsetMs >= interval_seconds * 1_000 ? next - interval_seconds * 1_000 : null)
      },
    ),
  )
})
