// Ids: UUIDv7 whose order is the order of creation.
import { expect, test } from 'vitest'
import { createSeededRandom } from '../test/seeded-random.ts'
import { createVirtualClock } from '../test/virtual-clock.ts'
import { createIds, systemIds, systemRandom } from './ids.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function seededIds() {
  const clock = createVirtualClock()
  return { clock, ids: createIds({ clock, random: createSeededRandom(1) }) }
}

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

test('an id is a UUID of version 7 and variant 1', () => {
  const { ids } = seededIds()
  for (let count = 0; count < 1_000; count++) expect(ids.next()).toMatch(UUID_V7)
})

test('an id carries the time of the clock', () => {
  const { clock, ids } = seededIds()
  expect(timeOf(ids.next())).toBe(clock.now())
})

test('an id carries the time that it is asked for', () => {
  const { clock, ids } = seededIds()
  expect(timeOf(ids.next(clock.now() + 5))).toBe(clock.now() + 5)
})

test('time, counter and chance have their places', () => {
  const nowMs = 0x0123_4567_89ab
  const ids = createIds({ clock: createVirtualClock(), random: { below: () => 0x8421_cdef } })
  // The counter begins with the draw times 2^9: 0x108_439b_de00, of which 12 bits stand before the variant and 30 after.
  expect(ids.next(nowMs)).toBe('01234567-89ab-7421-839b-de008421cdef')
  expect(ids.next(nowMs)).toBe('01234567-89ab-7421-839b-de018421cdef')
})

test('ids of one millisecond grow', () => {
  const { ids } = seededIds()
  const made = Array.from({ length: 10_000 }, () => ids.next())
  expect(made).toEqual(made.toSorted())
  expect(new Set(made).size).toBe(made.length)
})

test('ids of later milliseconds are greater', async () => {
  const { clock, ids } = seededIds()
  const made: string[] = []
  for (let count = 0; count < 100; count++) {
    made.push(ids.next(), ids.next())
    await clock.advance(1)
  }
  expect(made).toEqual(made.toSorted())
})

test('ids keep growing when the clock is set back', () => {
  const { clock, ids } = seededIds()
  const first = ids.next(clock.now())
  const second = ids.next(clock.now() - 60_000)
  expect(second > first).toBe(true)
})

test('the same seed gives the same ids', () => {
  const one = seededIds().ids
  const other = seededIds().ids
  expect([one.next(), one.next()]).toEqual([other.next(), other.next()])
})

test('ids of two servers in one millisecond differ', () => {
  const clock = createVirtualClock()
  const [one, other] = [systemRandom, systemRandom].map((random) => createIds({ clock, random }))
  const made = Array.from({ length: 2_000 }, () => [one!.next(), other!.next()]).flat()
  expect(new Set(made).size).toBe(made.length)
})

test('ids of the system are well formed and grow', () => {
  const made = Array.from({ length: 5_000 }, () => systemIds.next())
  expect(made.every((id) => UUID_V7.test(id))).toBe(true)
  expect(made).toEqual(made.toSorted())
})

test('chance stays below its bound', () => {
  const drawn = Array.from({ length: 1_000 }, () => systemRandom.below(3))
  expect(new Set(drawn)).toEqual(new Set([0, 1, 2]))
  expect([systemRandom.below(1), systemRandom.below(0)]).toEqual([0, 0])
})
