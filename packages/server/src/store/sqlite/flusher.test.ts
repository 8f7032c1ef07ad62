// Who waits for which flush.
import { expect, test } from 'vitest'
import { createFlusher } from './flusher.ts'

/** A disk whose flushes end when the test says so, and a log that grows when it says so. */
function createDisk() {
  const flushes: PromiseWithResolvers<void>[] = []
  let version = 1
  const flusher = createFlusher({
    version: () => version,
    flush: () => {
      const flush = Promise.withResolvers<void>()
      flushes.push(flush)
      return flush.promise
    },
  })
  return { flusher, flushes, commit: () => (version += 1) }
}

function watch(promise: Promise<void>) {
  const watched = { done: false, promise }
  void promise.then(() => (watched.done = true))
  return watched
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a flush carries what was committed before it began, and nothing that came later', async () => {
  const { flusher, flushes, commit } = createDisk()
  commit()
  const first = watch(flusher.flushed())
  commit()
  const [second, third] = [watch(flusher.flushed()), watch(flusher.flushed())]
  await turn()
  expect(flushes).toHaveLength(1)
  flushes[0]!.resolve()
  await turn()
  expect([first.done, second.done, third.done]).toEqual([true, false, false])
  expect(flushes).toHaveLength(2)
  flushes[1]!.resolve()
  await turn()
  expect([second.done, third.done]).toEqual([true, true])
})

test('where nothing was committed since, nothing is flushed', async () => {
  const { flusher, flushes } = createDisk()
  const first = flusher.flushed()
  flushes[0]!.resolve()
  await first
  await flusher.flushed()
  expect(flushes).toHaveLength(1)
})

test('after a flush that failed nothing is told any more, and nothing written', async () => {
  const { flusher, flushes, commit } = createDisk()
  const first = flusher.flushed()
  commit()
  const second = flusher.flushed()
  flushes[0]!.reject(new Error('no space'))
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(second).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(flusher.flushed()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(() => flusher.requireWhole()).toThrow()
  expect(flushes).toHaveLength(1)
})
