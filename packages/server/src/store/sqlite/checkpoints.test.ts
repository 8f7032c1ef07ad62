// When the log is written back into the file, and who waits for it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { CheckpointKind } from './checkpoint-thread.ts'
import { createCheckpoints } from './checkpoints.ts'
import { createTurns } from './turns.ts'

/** A log that the test adds pages to, and a thread that answers when the test says so. */
function createRig() {
  const turns = createTurns()
  const asked: { readonly kind: CheckpointKind; readonly answer: PromiseWithResolvers<void> }[] = []
  const troubles: unknown[] = []
  const log = { pages: 0, isReadable: true, isClosed: false }
  const checkpoints = createCheckpoints({
    logLength: () => {
      if (!log.isReadable) throw new Error('not a database')
      return log.pages
    },
    pagesMax: 100,
    checkpointer: {
      checkpoint: (kind) => {
        const answer = Promise.withResolvers<void>()
        asked.push({ kind, answer })
        return answer.promise
      },
      close: async () => void (log.isClosed = true),
    },
    turns,
    onTrouble: (error) => troubles.push(error),
  })
  return {
    turns,
    troubles,
    log,
    checkpoints,
    asked: () => asked.map(({ kind }) => kind),
    commit: (pages: number) => {
      log.pages += pages
      checkpoints.committed()
    },
    /** The next commit begins the log anew, once it was written back and nobody reads it. */
    commitAnew: (pages: number) => {
      log.pages = pages
      checkpoints.committed()
    },
    async answer(error?: Error) {
      const { answer } = asked.at(-1)!
      if (error === undefined) answer.resolve()
      else answer.reject(error)
      await nextTurn()
    },
  }
}

const BOTH = ['passive', 'passive']

test('a log is left alone until it is long', () => {
  const { commit, asked } = createRig()
  commit(60)
  commit(39)
  expect(asked()).toEqual([])
  commit(1)
  expect(asked()).toEqual(['passive'])
})

test('most of it is written back beside the commits, and what they add meanwhile before the next one', async () => {
  const { commit, asked, turns, answer } = createRig()
  commit(100)
  const during = await turns.take()
  commit(30)
  during()
  expect(asked()).toEqual(['passive'])

  await answer()
  expect(asked()).toEqual(BOTH)
  let isIn = false
  void turns.take().then(() => (isIn = true))
  await nextTurn()
  expect(isIn).toBe(false)

  await answer()
  expect(isIn).toBe(true)
})

test('it is not written back twice at once, and again when it is long again', async () => {
  const { commit, commitAnew, asked, answer } = createRig()
  commit(100)
  commit(100)
  expect(asked()).toEqual(['passive'])
  await answer()
  await answer()
  commitAnew(99)
  expect(asked()).toEqual(BOTH)
  commit(1)
  expect(asked()).toEqual([...BOTH, 'passive'])
})

test('a log that somebody goes on reading is tried again when it has grown as much again', async () => {
  const { commit, asked, answer } = createRig()
  commit(150)
  await answer()
  await answer()
  commit(99)
  expect(asked()).toEqual(BOTH)
  commit(1)
  expect(asked()).toEqual([...BOTH, 'passive'])
})

test('for a log that has become very long, whoever commits waits until nobody reads it', async () => {
  const { commit, asked, answer } = createRig()
  for (let at = 0; at < 4; at += 1) {
    commit(100)
    await answer()
    await answer()
  }
  expect(asked()).toEqual([...BOTH, ...BOTH, ...BOTH, 'passive', 'restart'])
})

test('a long log that somebody else has begun anew counts from its beginning', async () => {
  const { commit, commitAnew, asked, answer } = createRig()
  commit(300)
  await answer()
  await answer()
  commitAnew(1)
  commit(99)
  expect(asked()).toEqual([...BOTH, 'passive'])
})

test.each([
  ['beside the commits', 0],
  ['in its turn', 1],
])('a thread that fails %s is told of once and not asked again, and commits go on', async (_, answered) => {
  const { commit, asked, troubles, turns, answer } = createRig()
  commit(100)
  for (let at = 0; at < answered; at += 1) await answer()
  await answer(new Error('disk full'))
  expect(troubles).toEqual([new Error('disk full')])
  ;(await turns.take())()
  commit(1_000)
  expect(asked()).toHaveLength(1 + answered)
})

test('a log whose length cannot be told fails no commit', () => {
  const { commit, asked, log, troubles } = createRig()
  log.isReadable = false
  expect(() => commit(100)).not.toThrow()
  expect(troubles).toEqual([new Error('not a database')])
  expect(asked()).toEqual([])
})

test('who closes waits for what is under way, and nothing begins after it', async () => {
  const { commit, asked, checkpoints, log, answer } = createRig()
  commit(100)
  const closed = checkpoints.close()
  await answer()
  expect(log.isClosed).toBe(false)
  await answer()
  await closed
  expect(log.isClosed).toBe(true)
  commit(1_000)
  expect(asked()).toEqual(BOTH)
})
