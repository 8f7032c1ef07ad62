// Addresses that count as one, and the lane of those who guess.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createFailedLogins, networkOf } from './failed-logins.ts'

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('who is slowed down is checked one at a time; others are not held up, and after a while nobody is', async () => {
  const clock = createVirtualClock()
  const logins = createFailedLogins({ perMinute: 1, clock })
  const wrong = new GateError('unauthenticated', 'no')
  expect(logins.refusal('10.0.0.1', wrong)).toBe(wrong)
  expect(logins.refusal('10.0.0.1', wrong)).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { retry_after: 60 },
  })
  const running = { here: 0, most: 0 }
  const check = async () => {
    running.most = Math.max(running.most, (running.here += 1))
    await Promise.resolve()
    running.here -= 1
    return 'in'
  }
  const from = (address: string, count: number) =>
    Promise.allSettled(Array.from({ length: count }, async () => logins.check(address, check)))
  const answers = await from('10.0.0.1', 15)
  expect([running.most, answers.filter(({ status }) => status === 'fulfilled').length]).toEqual([1, 11])
  await from('10.0.0.2', 3)
  expect(running.most).toBe(3)
  await clock.advance(60_000)
  await from('10.0.0.1', 5)
  expect(running.most).toBe(5)
})
