// Who rides with a commit that creates tasks.
import { expect, test } from 'vitest'
import { claimOf } from '../../test/simulation/commands.ts'
import { groupFor, type Groups, ridersOf } from './waiting-groups.ts'

function waiting(...claims: [worker: string, of: Parameters<typeof claimOf>[1]][]): Groups {
  const groups: Groups = new Map()
  claims.forEach(([id, of], turn) => {
    const command = claimOf({ kind: 'worker', id }, of)
    groupFor(groups, command).waiters.add({ command, turn, busy: false, answer: () => {} })
  })
  return groups
}

test('no more claims ride with a commit than could take what it creates', () => {
  const any = { maxTasks: 1 }
  const groups = waiting(
    ['one', any],
    ['two', any],
    ['three', any],
    ['picky', { acceptTypes: ['a'], maxTasks: 1 }],
    ['greedy', { acceptTypes: ['b'], maxTasks: 10 }],
  )
  const riders = (...types: string[]) =>
    ridersOf(
      groups,
      types.map((type) => ({ type, capabilities: [] })),
    ).map(({ command }) => command.worker.id)
  expect(riders('a')).toEqual(['one'])
  expect(riders('a', 'b', 'b')).toEqual(['one', 'two', 'three'])
  expect(riders('c', 'c', 'c', 'a', 'b', 'b')).toEqual(['one', 'two', 'three', 'picky', 'greedy'])
})
