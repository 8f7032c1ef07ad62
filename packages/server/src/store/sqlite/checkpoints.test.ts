// When the log is written back into the file, and who waits for it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCheckpoints } from './checkpoints.ts'
import { createTurns } from './turns.ts'

/** A log that the test adds pages to, and a thread that writes back what is there once the test says so. */
function createRig() {
  const turns = createTurns()
  const asked: PromiseWithResolvers<void>[] = []
  const troubles: unknown[] = []
  const log = { pages: 0, isClosed: false }
  const checkpoints = createCheckpoints({
    pagesInLog: () => {
      if (log.pages < 0) throw new Error('not a database')
      return log.pages
    },
    pagesMax: 100,
    checkpointer: {
      checkpoint: () => {
        const ask = Promise.withResolvers<void>()
        asked.push(ask)
        return ask.promise
      },
      close: async () => void (log.isClosed = true),
    },
    turns,
    onTrouble: (error) => troubles.push(error),
  })
  return {
    turns,
    asked,
    troubles,
    log,
    checkpoints,
    commit: (pages: number) => {
      log.pages += pages
      checkpoints.committed()
    },
    /** Answers what was asked last, when it has written back all but what somebody still reads. */
    async writeBack(left = 0) {
      log.pages = left
      asked.at(-1)!.resolve()
      await nextTurn()
    },
  }
}

test('a log is left alone until it is long', () => {
  const { commit, asked } = createRig()
  commit(60)
  commit(39)
  expect(asked).toHaveLength(0)
  commit(1)
  expect(asked).toHaveLength(1)
})

test('most of it is written back beside the commits, and what they add meanwhile before the next one', async () => {
  const { commit, asked, turns, writeBack } = createRig()
  commit(100)
  const during = await turns.take()
  commit(30)
  during()
  expect(asked).toHaveLength(1)

  await writeBack(30)
  expect(asked).toHaveLength(2)
  const next = turns.take()
  let isIn = false
  void next.then(() => (isIn = true))
  await nextTurn()
  expect(isIn).toBe(false)

  await writeBack()
  expect(isIn).toBe(true)
})

test('it is not written back twice at once, and again when it is long again', async () => {
  const { commit, asked, writeBack } = createRig()
  commit(100)
  commit(100)
  expect(asked).toHaveLength(1)
  await writeBack()
  await writeBack()
  commit(99)
  expect(asked).toHaveLength(2)
  commit(1)
  expect(asked).toHaveLength(3)
})

test('what somebody still reads is tried again when the log has grown as much again', async () => {
  const { commit, asked, writeBack } = createRig()
  commit(100)
  await writeBack(80)
  await writeBack(80)
  commit(99)
  expect(asked).toHaveLength(2)
  commit(1)
  expect(asked).toHaveLength(3)
})

test.each([
  ['beside the commits', 0],
  ['in its turn', 1],
])('a thread that fails %s is told of once and not asked again, and commits go on', async (_, answered) => {
  const { commit, asked, troubles, turns, writeBack } = createRig()
  commit(100)
  for (let at = 0; at < answered; at += 1) await writeBack(30)
  asked.at(-1)!.reject(new Error('disk full'))
  await nextTurn()
  expect(troubles).toEqual([new Error('disk full')])
  ;(await turns.take())()
  commit(1_000)
  expect(asked).toHaveLength(1 + answered)
})

test('a log whose length cannot be told fails no commit', () => {
  const { commit, asked, troubles } = createRig()
  expect(() => commit(-1)).not.toThrow()
  expect(troubles).toEqual([new Error('not a database')])
  expect(asked).toHaveLength(0)
})

test('who closes waits for what is under way, and nothing begins after it', async () => {
  const { commit, asked, checkpoints, log, writeBack } = createRig()
  commit(100)
  const closed = checkpoints.close()
  await writeBack()
  expect(log.isClosed).toBe(false)
  await writeBack()
  await closed
  expect(log.isClosed).toBe(true)
  commit(1_000)
  expect(asked).toHaveLength(2)
})
