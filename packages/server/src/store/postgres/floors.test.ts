// Where claims begin to look, from what earlier ones saw.
import { expect, test } from 'vitest'
import { createFloors, type Sight, type Stretch, WHOLE } from './floors.ts'

const NOW = Date.UTC(2026, 0, 1)
const NIL = '00000000-0000-0000-0000-000000000000'
const [MIN, MAX] = [-2_147_483_648, 2_147_483_647]

function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

const task = (negPriority: number, ago: number) => ({ negPriority, taskId: idAt(NOW - ago) })

function sight(over: Partial<Sight> = {}): Sight {
  return { stretches: WHOLE, first: null, negPriorities: [], lookedAt: NOW, tookMs: 1, ...over }
}

/** From where to look, for each priority that has gone past anything. */
function floorsOf(stretches: readonly Stretch[]): Record<number, string> {
  return Object.fromEntries(stretches.slice(1).map(({ fromPriority, fromId }) => [fromPriority, fromId]))
}

test('what was never looked at is looked at as a whole', () => {
  expect(createFloors().stretchesOf('q')).toBe(WHOLE)
})

test('later looks begin with what was first, and leave out nothing before or behind its priority', () => {
  const floors = createFloors()
  floors.saw('q', sight({ first: task(-5, 10_000), negPriorities: [-5] }))
  expect(floors.stretchesOf('q')).toEqual([
    { fromPriority: MIN, fromId: NIL, toPriority: -6 },
    { fromPriority: -5, fromId: idAt(NOW - 10_000), toPriority: MAX },
  ])
  expect(floors.stretchesOf('another')).toBe(WHOLE)
})

test('what is not older than the time that a commit may take is looked at again', () => {
  const floors = createFloors()
  floors.saw('q', sight({ first: task(0, 100), negPriorities: [0] }))
  expect(floorsOf(floors.stretchesOf('q'))).toEqual({ 0: idAt(NOW - 2_000) })
})

test('of higher priorities nothing is left, of lower ones nothing is known', () => {
  const floors = createFloors()
  floors.saw('q', sight({ first: task(0, 9_000), negPriorities: [-1, 0, 1] }))
  expect(floorsOf(floors.stretchesOf('q'))).toEqual({ [-1]: idAt(NOW - 2_000), 0: idAt(NOW - 9_000), 1: NIL })
  floors.saw('q', sight({ first: null }))
  expect(floorsOf(floors.stretchesOf('q'))).toEqual({
    [-1]: idAt(NOW - 2_000),
    0: idAt(NOW - 2_000),
    1: idAt(NOW - 2_000),
  })
})

test('a look that is answered late does not undo what a later one saw', () => {
  const floors = createFloors()
  floors.saw('q', sight({ first: task(0, 5_000), negPriorities: [0], lookedAt: NOW }))
  floors.saw('q', sight({ first: task(0, 8_000), lookedAt: NOW - 100 }))
  expect(floorsOf(floors.stretchesOf('q'))).toEqual({ 0: idAt(NOW - 5_000) })
})

test.each([
  { tookMs: 1, afterMs: 1_000 },
  { tookMs: 100, afterMs: 10_000 },
  { tookMs: 9_000, afterMs: 30_000 },
])('the whole is looked at again, $afterMs ms after a look that took $tookMs', ({ tookMs, afterMs }) => {
  const floors = createFloors()
  const first = task(0, 9_000)
  floors.saw('q', sight({ first, negPriorities: [0], tookMs }))
  const stretches = floors.stretchesOf('q')
  floors.saw('q', sight({ first, stretches, lookedAt: NOW + afterMs - 1 }))
  expect(floors.stretchesOf('q')).not.toBe(WHOLE)
  floors.saw('q', sight({ first, stretches, lookedAt: NOW + afterMs }))
  expect(floors.stretchesOf('q')).toBe(WHOLE)
  floors.saw('q', sight({ first, lookedAt: NOW + afterMs, tookMs }))
  expect(floors.stretchesOf('q')).not.toBe(WHOLE)
})

test('while one looks at the whole, the others do not, unless it takes very long', () => {
  const floors = createFloors()
  const first = task(0, 9_000)
  floors.saw('q', sight({ first, negPriorities: [0] }))
  const stretches = floors.stretchesOf('q')
  floors.saw('q', sight({ first, stretches, lookedAt: NOW + 1_000 }))
  expect(floors.isWholeDue('q')).toBe(true)
  expect(floors.stretchesOf('q')).toBe(WHOLE)
  expect(floors.isWholeDue('q')).toBe(false)
  expect(floors.stretchesOf('q')).not.toBe(WHOLE)
  floors.saw('q', sight({ first, stretches, lookedAt: NOW + 2_000 }))
  expect(floors.stretchesOf('q')).toBe(WHOLE)
})

test('when the clock was set back, nothing that was seen before counts', () => {
  const floors = createFloors()
  floors.saw('q', sight({ first: task(0, 9_000), negPriorities: [0], lookedAt: NOW + 3_600_000 }))
  expect(floors.stretchesOf('q')).not.toBe(WHOLE)
  floors.saw('q', sight({ stretches: floors.stretchesOf('q') }))
  expect(floors.stretchesOf('q')).toBe(WHOLE)
})

test('with very many priorities, all are looked at from the start', () => {
  const floors = createFloors()
  floors.saw('q', sight({ negPriorities: Array.from({ length: 17 }, (_, at) => at) }))
  expect(floors.stretchesOf('q')).toEqual(WHOLE)
})
