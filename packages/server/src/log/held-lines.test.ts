// Held lines: written together, soon, in their order, and none twice.
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/virtual-clock.ts'
import { createHeldLines, HELD_MS } from './held-lines.ts'

function held() {
  const written: string[] = []
  const clock = createVirtualClock()
  const lines = createHeldLines({ out: { write: (text) => written.push(text) }, clock })
  return { written, clock, lines }
}

test('lines of one moment are one write', async () => {
  const { written, clock, lines } = held()
  lines.write('a\n')
  await clock.advance(HELD_MS - 1)
  lines.write('b\n')
  expect(written).toEqual([])
  await clock.advance(1)
  expect(written).toEqual(['a\nb\n'])
  lines.write('c\n')
  await clock.advance(HELD_MS)
  expect(written).toEqual(['a\nb\n', 'c\n'])
})

test('what is released is written at once, and not again', async () => {
  const { written, clock, lines } = held()
  expect(lines.release()).toBe(false)
  lines.write('a\n')
  expect(lines.release()).toBe(true)
  expect(written).toEqual(['a\n'])
  await clock.advance(HELD_MS)
  expect(lines.release()).toBe(false)
  expect(written).toEqual(['a\n'])
})

test('many lines do not wait', () => {
  const { written, lines } = held()
  for (let count = 0; count < 1_000; count += 1) lines.write(`${'a'.repeat(99)}\n`)
  expect(written.length).toBeGreaterThan(0)
  lines.release()
  expect(written.join('')).toBe(`${'a'.repeat(99)}\n`.repeat(1_000))
})
