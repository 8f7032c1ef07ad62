// What a commit loads has an end, however much is asked of it.
import { expect, test } from 'vitest'
import { configOf } from '../config.ts'
import type { ClaimCommand } from './command.ts'
import { needsOf } from './needs.ts'

const claimOf = (maxTasks: number): ClaimCommand => ({
  kind: 'claim',
  worker: { kind: 'worker', id: 'w' },
  filter: { capabilities: [], acceptTypes: null, preferredTypes: [] },
  maxTasks,
  ttlSeconds: null,
  capacity: null,
})

test('claims with one filter are offered what they want together, and what they would have in reserve', () => {
  expect(needsOf([claimOf(1), { ...claimOf(5), spare: 20 }], configOf()).claims).toMatchObject([
    { count: 26 },
  ])
})

test('any number of large claims is offered no more than a commit can carry', () => {
  const claims = Array.from({ length: 100 }, () => claimOf(1_000))
  expect(needsOf(claims, configOf()).claims).toMatchObject([{ count: 2_000 }])
})
