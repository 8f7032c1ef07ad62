// What spares a claim its look, and what does not.
import { expect, test } from 'vitest'
import { claimOf } from '../../test/simulation/commands.ts'
import { isKnownEmpty, newReadiness, noteFruitless, noteWake, type Readiness } from './emptiness.ts'

const CLAIM = claimOf({ kind: 'worker', id: 'w' })
const OF_ANOTHER_KIND = claimOf({ kind: 'worker', id: 'w' }, { acceptTypes: ['another'] })

/** A look at 10,000 that found nothing, in a queue whose next delay ends at 10,500. */
function afterALook(change: Partial<Readiness> = {}): Readiness {
  const readiness: Readiness = { ...newReadiness(), delays: 'known', dueAt: 10_500 }
  noteFruitless(readiness, CLAIM, { wakes: readiness.wakes, at: 10_000 })
  return Object.assign(readiness, change)
}

test('a look that found nothing is known to those who ask for the same', () => {
  const readiness = afterALook()
  expect(isKnownEmpty(readiness, CLAIM, 10_400)).toBe(true)
  expect(isKnownEmpty(readiness, { ...CLAIM, worker: { kind: 'worker', id: 'another' } }, 10_400)).toBe(true)
  expect(isKnownEmpty(readiness, OF_ANOTHER_KIND, 10_400)).toBe(false)
})

test.each([
  ['a delay has ended', {}, 10_500],
  ['there may be a delay that nobody has looked up', { delays: 'new' }, 10_001],
  ['the next delay is being looked up', { delays: 'sought' }, 10_001],
  ['a hint may have been lost long enough', { dueAt: Infinity }, 11_000],
  ['the clock was set back', {}, 9_999],
] as const)('it is looked for again when %s', (_why, change, now) => {
  expect(isKnownEmpty(afterALook(change), CLAIM, now)).toBe(false)
})

test('it is looked for again when something may have become ready, also while a look was under way', () => {
  const readiness = afterALook()
  const begun = { wakes: readiness.wakes, at: 10_000 }
  noteWake(readiness)
  expect(isKnownEmpty(readiness, CLAIM, 10_001)).toBe(false)
  noteFruitless(readiness, CLAIM, begun)
  expect(isKnownEmpty(readiness, CLAIM, 10_001)).toBe(false)
})
