// Answers belong to those who asked, whatever becomes of the thread.
import { expect, onTestFinished, test } from 'vitest'
import { createThread } from './thread.ts'

function createEcho() {
  const failing = new Int32Array(new SharedArrayBuffer(4))
  const module = '../../../test/store/echo-thread'
  const thread = createThread<string, string>({ module, task: 'is tested', data: { failing } })
  onTestFinished(thread.close)
  return { ...thread, waitUntilItFails: () => Atomics.wait(failing, 0, 0) }
}

test('questions are answered in their order', async () => {
  const { ask } = createEcho()
  const questions = ['one', 'two', 'three']
  expect(await Promise.all(questions.map(ask))).toEqual(questions)
})

test('a thread that has failed answers nobody who asks later, whatever it still has to say', async () => {
  const { ask, waitUntilItFails } = createEcho()
  await ask('it has started')
  const answers = Promise.allSettled(Array.from({ length: 20 }, () => ask('early')))
  const failed = ask('fail').catch(() => ask('late'))
  waitUntilItFails()
  for (const from = performance.now(); performance.now() - from < 50; ); // nothing of it is read here meanwhile
  expect(await failed).toBe('late')
  for (const answer of await answers) expect(answer.status === 'rejected' || answer.value).not.toBe('late')
  expect(await ask('it has started anew')).toBe('it has started anew')
})
