// Claims that wait for delays to end: when the next one is looked up, and what happens as it ends.
import { expect, test } from 'vitest'
import { claimOf } from '../../test/simulation/commands.ts'
import { createVirtualClock } from '../../test/virtual-clock.ts'
import { scene, TENANT } from '../../test/waiting-scene.ts'

test('work that arrives while the next delay is looked up is not missed', async () => {
  const clock = createVirtualClock()
  const { claim, claims, answers, offer } = scene({
    clock,
    nextEligibleAt: () => new Promise((resolve) => clock.after(50, () => resolve(null))),
  })
  void claim('w')
  await clock.advance(100)
  claims.wake(TENANT)
  await clock.advance(10)
  await offer('a')
  await clock.advance(40)
  expect(answers).toEqual([['w', ['a']]])
})

test('a claim is looked at again when the next delay ends', async () => {
  const clock = createVirtualClock()
  const dueAt = clock.now() + 300
  const { claim, work, attempts, answers } = scene({
    clock,
    nextEligibleAt: async () => (clock.now() < dueAt ? dueAt : null),
  })
  void claim('w')
  await clock.advance(299)
  expect(attempts).toHaveLength(1)
  work.push('a')
  await clock.advance(1)
  expect(answers).toEqual([['w', ['a']]])
})

test('a delay that became known while claims waited wakes them when it ends', async () => {
  const clock = createVirtualClock()
  let dueAt: number | null = null
  const { claim, claims, work, answers } = scene({ clock, nextEligibleAt: async () => dueAt })
  void claim('w')
  await clock.advance(100)
  dueAt = clock.now() + 250
  claims.wake(TENANT)
  await clock.advance(249)
  work.push('a')
  expect(answers).toEqual([])
  await clock.advance(1)
  expect(answers).toEqual([['w', ['a']]])
})

test('the next delay is looked up when there may be a new one, and not when work is merely there', async () => {
  let lookups = 0
  const { claim, claims, clock } = scene({
    nextEligibleAt: async () => {
      lookups += 1
      return null
    },
  })
  void claim('w')
  await clock.advance(0)
  expect(lookups).toBe(1)
  claims.wake(TENANT, false)
  await clock.advance(0)
  expect(lookups).toBe(1)
  claims.wake(TENANT, true)
  await clock.advance(0)
  expect(lookups).toBe(2)
  await clock.advance(1_000)
  expect(lookups).toBe(3)
})

test('a new delay that became known during a round is looked up after it, whatever woke it since', async () => {
  let lookups = 0
  const { claim, claims, clock } = scene({
    attempt: async (_tenantId, commands) => {
      if (claims.count() === 1 && lookups === 1) {
        lookups = 10
        claims.wake(TENANT, true)
        claims.wake(TENANT, false)
      }
      return commands.map(() => ({ grants: [], again: false }))
    },
    nextEligibleAt: async () => {
      lookups += 1
      return null
    },
  })
  void claim('w')
  await clock.advance(0)
  claims.wake(TENANT, false)
  await clock.advance(0)
  expect(lookups).toBe(11)
})

test('a delay that has ended, but whose task another instance holds, is not asked for without a pause', async () => {
  const { claim, clock, attempts } = scene({ nextEligibleAt: async () => 0 })
  void claim('w')
  await clock.advance(1_000)
  expect(attempts.length).toBeLessThan(50)
})

test.each([
  ['could not be looked up', () => Promise.reject(new Error('not now'))],
  ['has ended', async () => 0],
])('where the next delay %s, those who come to others look for themselves', async (_what, nextEligibleAt) => {
  const { claim, clock, attempts } = scene({ nextEligibleAt })
  void claim('one')
  await clock.advance(0)
  void claim('two')
  await clock.advance(0)
  expect(attempts).toEqual([['one'], ['two']])
})

test('of two looks for the next delay at once, the later one knows', async () => {
  const reads: ((at: number | null) => void)[] = []
  const on = scene({ nextEligibleAt: () => new Promise((resolve) => reads.push(resolve)) })
  const leaving = new AbortController()
  const other = claimOf({ kind: 'worker', id: 'w' })
  void on.claim('w', { signal: leaving.signal, acceptTypes: ['another'] })
  await on.clock.advance(0) // the first read has begun, before there was a delay
  on.claims.wake(TENANT, true)
  await on.clock.advance(0)
  leaving.abort()
  const dueAt = on.clock.now() + 500
  reads[0]!(null)
  await on.clock.advance(0)
  reads[1]!(dueAt)
  await on.clock.advance(300)
  await on.claims.claim(TENANT, other, { waitMs: 0, signal: new AbortController().signal })
  const sparesLooks = () => on.claims.look(TENANT, [other], true).commands[0] !== other
  expect([reads.length, sparesLooks()]).toEqual([2, true])
  await on.clock.advance(200) // and now it ends
  expect(sparesLooks()).toBe(false)
})
