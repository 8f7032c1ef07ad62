// Who waits for whom.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

/** Takes a turn and says so. */
function createWatch() {
  const turns = createTurns()
  const begun: string[] = []
  return {
    begun,
    take: async (name: string) => {
      const end = await turns.take()
      begun.push(name)
      return end
    },
    takeBeside: async (name: string) => {
      const end = await turns.takeBeside()
      begun.push(name)
      return end
    },
  }
}

test('one comes after the other, in the order in which they came', async () => {
  const { begun, take } = createWatch()
  const end = await take('first')
  const second = take('second')
  const third = take('third')
  await nextTurn()
  expect(begun).toEqual(['first'])
  end()
  ;(await second)()
  await third
  expect(begun).toEqual(['first', 'second', 'third'])
})

test('what goes on beside is waited for by who must be alone, and by nobody else', async () => {
  const { begun, take, takeBeside } = createWatch()
  const writing = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  ;(await takeBeside('beside'))(writing[0].promise)
  ;(await takeBeside('beside too'))(writing[1].promise)
  const alone = take('alone')
  const later = takeBeside('later')
  writing[1].resolve()
  await nextTurn()
  expect(begun).toEqual(['beside', 'beside too'])
  writing[0].reject(new Error('refused'))
  const end = await alone
  expect(begun).toEqual(['beside', 'beside too', 'alone'])
  end()
  await later
  expect(begun).toEqual(['beside', 'beside too', 'alone', 'later'])
  await expect(writing[0].promise).rejects.toThrow('refused')
})
