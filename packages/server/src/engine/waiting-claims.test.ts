// Claims that wait: who is served, when, and what becomes of work that nobody is there to take any more.
import { expect, test } from 'vitest'
import { grantOf, scene, TENANT } from '../../test/waiting-scene.ts'
import type { Grant } from './decide/claim.ts'

test('a claim that finds work does not wait', async () => {
  const { claim, work, answers, claims } = scene()
  work.push('a')
  await claim('w')
  expect([answers, claims.count()]).toEqual([[['w', ['a']]], 0])
})

test('a claim that does not want to wait is answered with nothing', async () => {
  const { claim, answers } = scene()
  await claim('w', { waitMs: 0 })
  expect(answers).toEqual([['w', []]])
})

test('a waiting claim is answered in the moment in which work arrives', async () => {
  const { claim, clock, offer, answers } = scene()
  void claim('w')
  await clock.advance(300)
  expect(answers).toEqual([])
  await offer('a')
  expect(answers).toEqual([['w', ['a']]])
})

test('who waits longest is served first', async () => {
  const { claim, clock, offer, answers } = scene()
  for (const worker of ['one', 'two', 'three']) {
    void claim(worker)
    await clock.advance(1)
  }
  await offer('a', 'b')
  expect(answers).toEqual([
    ['one', ['a']],
    ['two', ['b']],
  ])
})

test('a claim that has waited its time is answered with nothing', async () => {
  const { claim, clock, answers, claims } = scene()
  void claim('w', { waitMs: 5_000 })
  await clock.advance(4_999)
  expect(answers).toEqual([])
  await clock.advance(1)
  expect([answers, claims.count()]).toEqual([[['w', []]], 0])
})

test('work that arrives during a fruitless attempt is not missed', async () => {
  let wake = () => {}
  const { claim, clock, answers, claims } = scene({
    attempt: async (_tenantId, commands) => {
      const late = wake
      wake = () => {}
      late()
      return commands.map(() => ({ grants: late === nothing ? [grantOf('a')] : [], again: false }))
    },
  })
  const nothing = () => {}
  wake = () => {
    claims.wake(TENANT)
    wake = nothing
  }
  void claim('w')
  await clock.advance(0)
  expect(answers).toEqual([['w', ['a']]])
})

test('while everybody who waits is on their way in a commit, nothing is asked for', async () => {
  const { claim, claims, clock, attempts, offer, answers } = scene()
  void claim('w')
  await clock.advance(0)
  attempts.length = 0
  const ride = claims.ride(TENANT, [{ type: 'x', capabilities: [] }])
  await offer('a')
  expect([ride?.commands.length, attempts]).toEqual([1, []])
  ride?.end([{ grants: [], again: false }])
  await clock.advance(0)
  expect(answers).toEqual([['w', ['a']]])
})

test('a lost hint costs at most a second', async () => {
  const { claim, clock, work, answers } = scene()
  void claim('w')
  await clock.advance(100)
  work.push('a')
  await clock.advance(1_000)
  expect(answers).toEqual([['w', ['a']]])
})

test('newcomers do not put off the look that others wait for', async () => {
  const { claim, clock, work, answers } = scene()
  void claim('first', { acceptTypes: ['a'] })
  for (let count = 0; count < 4; count++) {
    await clock.advance(400)
    if (count === 0) work.push('a')
    // Asking for nothing, the newcomer takes nothing away.
    void claim(`newcomer-${count}`, { maxTasks: 0 })
  }
  expect(answers).toContainEqual(['first', ['a']])
})

test('a claim that waits for what another transaction holds is looked at again in a moment', async () => {
  const free: Grant[] = []
  const { claim, clock, answers } = scene({
    attempt: async () => [{ grants: free.splice(0), again: false, held: free.length === 0 }],
  })
  void claim('w')
  await clock.advance(10)
  free.push(grantOf('a'))
  await clock.advance(100)
  expect(answers).toEqual([['w', ['a']]])
})

test('what another transaction holds is asked for again at once only by a claim that cannot wait', async () => {
  let asked = 0
  const attempt = async () => {
    asked += 1
    return [{ grants: [], again: false, held: true }]
  }
  const { claim, clock } = scene({ attempt })
  void claim('patient')
  await clock.advance(0)
  expect(asked).toBe(1)
  await scene({ attempt }).claim('in a hurry', { waitMs: 0 })
  expect(asked).toBe(1 + 5)
})

test('a claim that is told to ask again does so only as long as somebody wants the answer', async () => {
  const gone = new AbortController()
  let asked = 0
  const { claim, answers } = scene({
    attempt: async () => {
      asked += 1
      if (asked === 5) gone.abort()
      return [{ grants: [], again: true }]
    },
  })
  await claim('w', { signal: gone.signal })
  expect([asked, answers]).toEqual([5, [['w', []]]])
})

test('a claim whose caller has gone stops waiting', async () => {
  const { claim, clock, offer, answers, claims, work } = scene()
  const gone = new AbortController()
  void claim('w', { signal: gone.signal })
  await clock.advance(0)
  gone.abort()
  await offer('a')
  expect([answers, claims.count(), work]).toEqual([[['w', []]], 0, ['a']])
})

test('what was granted to a caller who left meanwhile is given back', async () => {
  const gone = new AbortController()
  const { claim, claims, clock, answers, givenBack } = scene({
    attempt: async (_tenantId, commands) => {
      if (claims.count() === 0) return commands.map(() => ({ grants: [], again: false }))
      gone.abort()
      return commands.map(() => ({ grants: [grantOf('a')], again: false }))
    },
  })
  void claim('w', { signal: gone.signal })
  await clock.advance(0)
  claims.wake(TENANT)
  await clock.advance(0)
  expect([answers, givenBack]).toEqual([[['w', []]], ['a']])
})

test('a claim asks again while what it was offered had no room', async () => {
  const offers = [
    { grants: [], again: true },
    { grants: [], again: true },
    { grants: [grantOf('a')], again: false },
  ]
  const { claim, answers } = scene({ attempt: async () => [offers.shift()!] })
  await claim('w', { waitMs: 0 })
  expect([answers, offers]).toEqual([[['w', ['a']]], []])
})

test('claims with one filter are offered work 32 at a time, and no more once there is none', async () => {
  const { claim, clock, offer, attempts, answers } = scene()
  for (let count = 0; count < 100; count++) void claim(`w-${count}`)
  await clock.advance(0)
  attempts.length = 0
  await offer(...Array.from({ length: 40 }, (_, index) => `task-${index}`))
  expect(answers).toHaveLength(40)
  expect(attempts.map((workers) => workers.length)).toEqual([32, 32, 32])
})

test('a worker at its capacity does not keep work from those behind it', async () => {
  const full = new Set(Array.from({ length: 32 }, (_, index) => `full-${index}`))
  const { claim, claims, clock, answers } = scene({
    attempt: async (_tenantId, commands) =>
      commands.map(({ worker }) => ({
        grants: full.has(worker.id) || claims.count() === 0 ? [] : [grantOf('a')],
        again: false,
      })),
  })
  for (const worker of [...full, 'free']) void claim(worker, { capacity: 1 })
  await clock.advance(0)
  claims.wake(TENANT)
  await clock.advance(0)
  expect(answers).toContainEqual(['free', ['a']])
})

const taking = (type: string) => ({ acceptTypes: [type] })

test('who waits longest is served first, whatever others wait for who join those before', async () => {
  const { claim, clock, offer, answers } = scene()
  for (const [worker, wanted] of Object.entries({ one: {}, two: taking('a'), three: {} })) {
    void claim(worker, wanted)
    await clock.advance(1)
  }
  await offer('a')
  await offer('b')
  expect(answers.map(([worker]) => worker)).toEqual(['one', 'two'])
})

test('claims that wait for different things are each offered work', async () => {
  const { claim, clock, claims, attempts } = scene()
  void claim('w-a', taking('a'))
  void claim('w-b', taking('b'))
  await clock.advance(0)
  attempts.length = 0
  claims.wake(TENANT)
  await clock.advance(0)
  expect(attempts).toEqual([['w-a', 'w-b']])
})

test('a tenant is not woken by the work of another', async () => {
  const { claim, claims, clock, work, answers } = scene()
  void claim('w')
  await clock.advance(0)
  work.push('a')
  claims.wake('other')
  await clock.advance(0)
  expect(answers).toEqual([])
})

test('a failing attempt is reported, and the claims wait on', async () => {
  let broken = false
  const { claim, claims, clock, errors, answers } = scene({
    attempt: async (_tenantId, commands) => {
      if (broken) throw new Error('gone')
      return commands.map(() => ({ grants: claims.count() === 0 ? [] : [grantOf('a')], again: false }))
    },
  })
  void claim('w')
  await clock.advance(0)
  broken = true
  claims.wake(TENANT)
  await clock.advance(0)
  expect([errors.length, answers]).toEqual([1, []])
  broken = false
  await clock.advance(1_000)
  expect(answers).toEqual([['w', ['a']]])
})

test('who comes to others who were told that there is nothing waits with them, without a look', async () => {
  const { claim, clock, attempts, offer, answers } = scene()
  void claim('one')
  await clock.advance(0)
  void claim('two')
  void claim('another', { acceptTypes: ['another'] })
  await clock.advance(0)
  expect(attempts).toEqual([['one'], ['another']])
  await offer('a', 'b')
  expect(answers).toEqual([
    ['one', ['a']],
    ['two', ['b']],
  ])
})

test('whoever does not want to wait looks all the same', async () => {
  const { claim, clock, work, answers } = scene()
  void claim('one')
  await clock.advance(0)
  work.push('a') // of which nobody was told
  await claim('two', { waitMs: 0 })
  expect(answers).toEqual([['two', ['a']]])
})

test('what may have come since those who wait were told is looked for', async () => {
  const { claim, claims, clock, attempts } = scene()
  void claim('one')
  await clock.advance(0)
  const ride = claims.ride(TENANT, [{ type: 'x', capabilities: [] }])
  claims.wake(TENANT)
  void claim('two')
  await clock.advance(0)
  expect(attempts).toEqual([['one'], ['two']])
  ride?.end([])
})

test('that there was no room for more leases says nothing of what there is', async () => {
  const attempts: string[] = []
  const { claim, clock } = scene({
    attempt: async (_tenantId, commands) => {
      attempts.push(...commands.map((command) => command.worker.id))
      return commands.map(() => ({ grants: [], again: false, empty: false }))
    },
  })
  void claim('one')
  await clock.advance(0)
  void claim('two')
  await clock.advance(0)
  expect(attempts).toEqual(['one', 'two'])
})

test('stopping answers everybody with nothing, and nobody waits after it', async () => {
  const { claim, claims, clock, answers } = scene()
  void claim('one')
  void claim('two')
  await clock.advance(0)
  claims.stop()
  await claim('late')
  expect(new Map(answers)).toEqual(
    new Map([
      ['one', []],
      ['two', []],
      ['late', []],
    ]),
  )
  expect(claims.count()).toBe(0)
})

test('without waiting claims there is nothing to wake for', async () => {
  const { claim, clock, claims, attempts } = scene()
  await claim('w', { waitMs: 0 })
  claims.wake(TENANT)
  await clock.advance(10_000)
  expect(attempts).toHaveLength(1)
})
