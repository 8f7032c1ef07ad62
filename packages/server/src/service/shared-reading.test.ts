// Readings that are dear are shared and kept; cheap and failed ones are not.
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/virtual-clock.ts'
import { shareReading } from './shared-reading.ts'

/** Each reading takes so long and gives the next number. */
function readingThatTakes(ms: number) {
  const clock = createVirtualClock()
  let count = 0
  const read = shareReading(async () => {
    const number = (count += 1)
    await new Promise<void>((resolve) => clock.after(ms, resolve))
    return number
  }, clock)
  const readNow = async () => {
    const reading = read()
    await clock.advance(ms)
    return reading
  }
  return { clock, read, readNow }
}

test('who asks while it is being read shares the answer', async () => {
  const { clock, read } = readingThatTakes(10)
  const both = Promise.all([read(), read()])
  await clock.advance(10)
  expect(await both).toEqual([1, 1])
})

test('what is cheap is read each time', async () => {
  const { readNow } = readingThatTakes(10)
  expect([await readNow(), await readNow()]).toEqual([1, 2])
})

test('what is dear is kept for ten times as long as it took', async () => {
  const { clock, read, readNow } = readingThatTakes(1_000)
  expect(await readNow()).toBe(1)
  await clock.advance(9_999)
  expect(await read()).toBe(1)
  await clock.advance(1)
  expect(await readNow()).toBe(2)
})

test('a failure is not kept', async () => {
  const clock = createVirtualClock()
  const answers = [Promise.reject(new Error('away')), Promise.resolve('back')]
  const read = shareReading(() => answers.shift()!, clock)
  await expect(read()).rejects.toThrow('away')
  expect(await read()).toBe('back')
})
