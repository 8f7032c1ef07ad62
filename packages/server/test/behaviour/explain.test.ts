// Why is it not running? The reason, and what would remove it.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { asAgent, BY_HAND, claim, claimOne, create, createId, ERROR, held, leased } from './scenes.ts'

const explain = (bench: Bench, task_id: string) => bench.call('explainTask', { task_id })

onEveryStore('explain', (open) => {
  verifies('OPS-7', 'nobody has asked for work', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { requirements: { capabilities: ['GPU'] } })
    expect(await explain(bench, taskId)).toMatchObject({
      task_id: taskId,
      status: 'queued',
      claimable: true,
      reasons: [{ reason: 'no_worker', type: 'work', missing_capabilities: ['gpu'] }],
    })
  })

  verifies('OPS-7', 'no worker takes the type', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench)
    await claim(bench, { accept_types: ['other'] })
    const { reasons } = await explain(bench, taskId)
    expect(reasons).toMatchObject([{ reason: 'type', type: 'work' }])
    expect(reasons[0]!.message).toContain('"work"')
    expect(reasons[0]).toMatchObject({
      types_taken: ['other'],
      message: expect.stringContaining('Start one that does'),
    })
  })

  verifies('OPS-7', 'the capability that is missing is named', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { requirements: { capabilities: ['GPU', 'eu', 'Fast'] } })
    await claim(bench, { worker_id: 'w-1', capabilities: ['EU', 'gpu'] })
    await claim(bench, { worker_id: 'w-2', capabilities: ['eu'] })
    const { reasons, claimable } = await explain(bench, taskId)
    expect(reasons).toMatchObject([{ reason: 'capability', missing_capabilities: ['fast'] }])
    expect(reasons[0]!.message).toContain('fast')
    expect(claimable).toBe(true)
  })

  verifies('OPS-7', 'a task that any worker may take next is simply ready', async () => {
    const bench = await open(BY_HAND)
    await claim(bench)
    const taskId = await createId(bench)
    expect(await explain(bench, taskId)).toMatchObject({ claimable: true, reasons: [{ reason: 'ready' }] })
  })

  verifies('OPS-7', 'the time that a delayed task waits for is named', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { delay_seconds: 60 })
    const next_eligible_at = iso(bench.clock.now() + 60_000)
    expect(await explain(bench, taskId)).toMatchObject({
      claimable: false,
      reasons: [{ reason: 'delayed', because: 'delay', next_eligible_at }],
    })
    await bench.clock.advance(60_000)
    expect(await explain(bench, taskId)).toMatchObject({ claimable: true })
  })

  verifies('OPS-7', 'the time that a backoff ends is named, with the attempts', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.call('fail', { ...held(lease), error: ERROR })
    const next_eligible_at = iso(bench.clock.now() + 30_000)
    expect((await explain(bench, lease.task_id)).reasons).toMatchObject([
      { reason: 'delayed', because: 'backoff', next_eligible_at, attempt: 1, max_attempts: 3 },
    ])
  })

  verifies(
    'OPS-7',
    'in a backoff the error of the last attempt is named, and not an earlier one',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      await bench.call('fail', { ...held(lease), error: ERROR })
      await bench.clock.advance(30_000)
      const last_error = { code: 'again', message: 'It broke again.', line: 7 }
      await bench.call('fail', { ...held(await claimOne(bench)), error: last_error })
      const { reasons } = await explain(bench, lease.task_id)
      expect(reasons).toMatchObject([{ because: 'backoff', attempt: 2, last_error }])
      expect(reasons[0]!.message).toContain('Attempt 2 of 3 failed (again: It broke again.)')
      await bench.clock.advance(60_000)
      expect((await explain(bench, lease.task_id)).reasons[0]).not.toHaveProperty('last_error')
    },
  )

  verifies('OPS-7', 'who is merely owed the outcome does not learn how an attempt failed', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { recipient: { principal_kind: 'agent', principal_id: 'rita' } })
    await bench.call('fail', { ...held(lease), error: ERROR })
    const { reasons } = await bench.call('explainTask', { task_id: lease.task_id }, asAgent('rita'))
    expect(reasons).toMatchObject([{ because: 'backoff', attempt: 1 }])
    expect(JSON.stringify(reasons)).not.toContain(ERROR.message)
  })

  verifies('OPS-7', 'the pause after a lost lease is named', async () => {
    const bench = await open({ lease: { ...BY_HAND.lease, requeue_jitter_seconds: 3_600 } })
    const lease = await leased(bench)
    await bench.clock.advance(300_000)
    await bench.gate.sweep() // and no time beyond that, since the pause is of any length up to an hour
    expect((await explain(bench, lease.task_id)).reasons).toMatchObject([
      { reason: 'delayed', because: 'expiry' },
    ])
  })

  verifies('OPS-7', 'the dependencies that have not ended are named', async () => {
    const bench = await open(BY_HAND)
    const done = await leased(bench)
    const [running, queued] = [await createId(bench), await createId(bench)]
    const taskId = await createId(bench, { depends_on: [done.task_id, running, queued] })
    await claimOne(bench)
    await bench.call('complete', { ...held(done), store_result: true })
    expect(await explain(bench, taskId)).toMatchObject({
      claimable: false,
      reasons: [
        {
          reason: 'dependency',
          dependencies: [
            { task_id: running, status: 'leased' },
            { task_id: queued, status: 'queued' },
          ],
        },
      ],
    })
  })

  verifies(['OPS-7', 'LEASE-8'], 'the limit of a key that is in use is named', async () => {
    const bench = await open(BY_HAND)
    await leased(bench, { concurrency_key: 'k' })
    const taskId = await createId(bench, { concurrency_key: 'k' })
    expect(await explain(bench, taskId)).toMatchObject({
      claimable: false,
      reasons: [{ reason: 'concurrency_limit', concurrency_key: 'k', limit: 1, active: 1 }],
    })
  })

  verifies(
    ['OPS-7', 'LEASE-8'],
    'the limit of the tenant is named once its own leases have reached it',
    async () => {
      const config = { ...BY_HAND, claim: { max_concurrent_leases: 1 } }
      const [bench, neighbour] = [await open(config), await open(config)]
      await leased(neighbour)
      const taskId = await createId(bench)
      expect((await explain(bench, taskId)).claimable).toBe(true)
      await claimOne(bench)
      const waiting = await createId(bench)
      expect(await explain(bench, waiting)).toMatchObject({
        claimable: false,
        reasons: [{ reason: 'tenant_limit', limit: 1, active: 1 }],
      })
    },
  )

  verifies('OPS-7', 'every hindrance is named, not only the first', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { concurrency_key: 'k' })
    const taskId = await createId(bench, {
      concurrency_key: 'k',
      delay_seconds: 60,
      depends_on: [lease.task_id],
    })
    const { reasons } = await explain(bench, taskId)
    expect(reasons.map(({ reason }) => reason)).toEqual(['dependency', 'delayed', 'concurrency_limit'])
  })

  verifies('OPS-7', 'who holds a task, and until when, is named', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const holder = { worker_id: 'w-1', expires_at: lease.expires_at }
    expect(await explain(bench, lease.task_id)).toMatchObject({
      status: 'leased',
      claimable: false,
      reasons: [{ reason: 'leased', ...holder }],
    })
    await bench.call('start', held(lease))
    const { reasons } = await explain(bench, lease.task_id)
    expect(reasons).toMatchObject([{ reason: 'running', ...holder }])
    expect(reasons[0]!.message).toMatch(/Worker "w-1" is at work on it\. Nothing hinders it/)
  })

  verifies('OPS-7', 'a task that has ended says so', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await create(bench)
    await bench.call('cancelTask', { task_id })
    expect(await explain(bench, task_id)).toMatchObject({
      status: 'canceled',
      claimable: false,
      reasons: [{ reason: 'terminal', status: 'canceled' }],
    })
  })

  verifies(
    'OPS-7',
    'a task that has ended without a place for its result says that more is owed',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      const { task_id } = lease
      await bench.call('complete', { ...held(lease), result: 1 })
      const unfinished = await explain(bench, task_id)
      expect(unfinished.reasons).toEqual([
        {
          reason: 'terminal',
          status: 'succeeded',
          obligation: 'open',
          message: expect.stringContaining('attach_artifacts'),
        },
      ])
      await bench.call('attachArtifacts', { task_id, artifacts: [{ url: 'https://example.org/result' }] })
      expect((await explain(bench, task_id)).reasons).toEqual([
        { reason: 'terminal', status: 'succeeded', message: 'It has ended: succeeded.' },
      ])
    },
  )

  verifies('OPS-7', 'a worker that has not asked for ten minutes is forgotten', async () => {
    const bench = await open(BY_HAND)
    await claim(bench)
    const taskId = await createId(bench)
    await bench.clock.advance(600_000)
    expect((await explain(bench, taskId)).reasons).toMatchObject([{ reason: 'no_worker' }])
  })

  verifies('OPS-7', 'a task of another tenant is not explained', async () => {
    const [bench, neighbour] = [await open(BY_HAND), await open(BY_HAND)]
    const foreign = await createId(neighbour)
    expect((await bench.refusal('explainTask', { task_id: foreign })).code).toBe('not_found')
  })
})
