// What is trusted, for how long, and what happens to it meanwhile.
import { expect, test } from 'vitest'
import { createTrusted } from './trusted.ts'

function scene(more: { again?: { afterMs: number; onError: (error: unknown) => void } } = {}) {
  let now = 0
  let stored = 'first'
  const reads: PromiseWithResolvers<void>[] = []
  const trusted = createTrusted({
    read: async () => {
      const read = Promise.withResolvers<void>()
      reads.push(read)
      const seen = stored
      await read.promise
      return seen
    },
    trustMs: 60,
    sizeMax: 10,
    clock: { now: () => now },
    ...more,
  })
  return {
    trusted,
    reads,
    pass: (ms: number) => void (now += ms),
    store: (value: string) => void (stored = value),
  }
}

test('many who ask at once ask once, and then it is known', async () => {
  const { trusted, reads, pass } = scene()
  const asked = Promise.all([trusted.get('a'), trusted.get('a')])
  reads[0]!.resolve()
  expect(await asked).toEqual(['first', 'first'])
  pass(59)
  expect(trusted.get('a')).toBe('first')
  expect(reads).toHaveLength(1)
  pass(1)
  void trusted.get('a')
  expect(reads).toHaveLength(2)
})

test('what was being read when it was changed is not kept', async () => {
  const { trusted, reads, store } = scene()
  const before = trusted.get('a')
  store('second')
  trusted.forget('a')
  const after = trusted.get('a')
  reads[1]!.resolve()
  reads[0]!.resolve()
  expect([await before, await after]).toEqual(['first', 'second'])
  expect(trusted.get('a')).toBe('second')
})

test('where it is read again in time nobody waits, and what cannot be read stays as it was', async () => {
  const errors: unknown[] = []
  const { trusted, reads, pass, store } = scene({
    again: { afterMs: 30, onError: (error) => void errors.push(error) },
  })
  const first = trusted.get('a')
  reads[0]!.resolve()
  await first
  store('second')
  pass(30)
  expect(trusted.get('a')).toBe('first')
  expect(trusted.get('a')).toBe('first')
  expect(reads).toHaveLength(2)
  pass(30)
  const waiting = trusted.get('a')
  reads[1]!.reject(new Error('away'))
  expect(await waiting).toBe('first')
  expect(errors).toHaveLength(1)
  const next = trusted.get('a')
  reads[2]!.resolve()
  expect(await next).toBe('second')
})
