// AUTH-5 as tables: who acts, for each kind of credential and each way of naming somebody.
import { describe, expect, test } from 'vitest'
import { resolveActing } from './acting.ts'
import { callerWith } from '../../test/facade-kit.ts'

const shared = callerWith({})
const indexer = callerWith({
  principal: { kind: 'worker', id: 'indexer' },
  role: 'worker',
  speaksForAll: false,
})
const alice = callerWith({ principal: { kind: 'agent', id: 'alice' }, role: 'agent', speaksForAll: false })
const scheduler = callerWith({
  principal: { kind: 'service', id: 'cron' },
  role: 'service',
  speaksForAll: false,
})

describe('AUTH-5: a credential that speaks for all', () => {
  test.each([
    ['nobody named', {}, 'agent/default'],
    ['an id', { principal_id: 'bob' }, 'agent/bob'],
    ['a kind', { principal_kind: 'human' as const }, 'human/default'],
    ['both', { principal_kind: 'service' as const, principal_id: 'cron' }, 'service/cron'],
    ['a worker', { worker_id: 'w-1' }, 'worker/w-1'],
    ['a worker that is a service', { worker_id: 'cron', worker_kind: 'service' as const }, 'service/cron'],
    ['a principal besides a worker', { worker_id: 'w-1', principal_id: 'bob' }, 'agent/bob'],
  ])('%s', (_what, input, expected) => {
    const { acting } = resolveActing(input, shared)
    expect(`${acting.kind}/${acting.id}`).toBe(expected)
  })
})

describe('AUTH-5: every other credential acts as itself', () => {
  test.each([
    ['nobody named', {}, alice, 'agent/alice'],
    ['itself named', { principal_kind: 'agent' as const, principal_id: 'alice' }, alice, 'agent/alice'],
    ['its worker id', { worker_id: 'indexer' }, indexer, 'worker/indexer'],
    ['an instance by dash', { worker_id: 'indexer-1' }, indexer, 'worker/indexer-1'],
    ['an instance by dot', { worker_id: 'indexer.a.b' }, indexer, 'worker/indexer.a.b'],
    ['an instance by colon', { worker_id: 'indexer:7' }, indexer, 'worker/indexer:7'],
    ['an instance by slash', { worker_id: 'indexer/7' }, indexer, 'worker/indexer/7'],
    [
      'a service as a worker',
      { worker_id: 'cron', worker_kind: 'service' as const },
      scheduler,
      'service/cron',
    ],
  ])('%s', (_what, input, caller, expected) => {
    const { acting } = resolveActing(input, caller)
    expect(`${acting.kind}/${acting.id}`).toBe(expected)
  })

  test.each([
    ['another id', { principal_id: 'bob' }, alice, 'principal_id'],
    ['another kind', { principal_kind: 'human' as const }, alice, 'principal_kind'],
    ['another worker', { worker_id: 'other' }, indexer, 'worker_id'],
    ['an id that only starts alike', { worker_id: 'indexer2' }, indexer, 'worker_id'],
    ['a separator with nothing behind it', { worker_id: 'indexer-' }, indexer, 'worker_id'],
    [
      'another kind of worker',
      { worker_id: 'indexer', worker_kind: 'service' as const },
      indexer,
      'worker_kind',
    ],
    ['an agent that names a worker', { worker_id: 'indexer' }, alice, 'worker_id'],
  ])('%s is forbidden', (_what, input, caller, field) => {
    expect(() => resolveActing(input, caller)).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        details: expect.objectContaining({ field, your_role: caller.role }),
      }),
    )
  })
})

test('the instance id is passed on', () => {
  expect(resolveActing({ principal_instance_id: 's-1' }, alice).instanceId).toBe('s-1')
  expect(resolveActing({}, alice).instanceId).toBeNull()
})
