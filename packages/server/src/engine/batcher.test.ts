// Group commit: what arrives while a commit is in flight shares the next one, and nobody is answered early.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { type BatcherOptions, createBatcher, type Run } from './batcher.ts'
import type { Command } from './command.ts'
import type { Result } from './decide/index.ts'

/** A command that says who it is; the batcher looks into none. */
const named = (taskId: string): Command => ({ kind: 'deadline', taskId })
const nameOf = (command: Command) => (command.kind === 'deadline' ? command.taskId : '?')
const echo = (commands: readonly Command[]): Result[] =>
  commands.map((command) => ({ ok: true, reply: nameOf(command) }))
const replies = (results: readonly Result[]) => results.map((result) => result.ok && result.reply)

/** Commits that end when the test says so. */
function heldCommits(options: BatcherOptions = {}) {
  const commits: { tenantId: string; names: string[]; end: () => void; lose: (error: unknown) => void }[] = []
  const run: Run = (tenantId, commands) =>
    new Promise((resolve, reject) => {
      const names = commands.map(nameOf)
      commits.push({ tenantId, names, end: () => resolve(echo(commands)), lose: reject })
    })
  return { commits, batcher: createBatcher(run, options) }
}

/** Promises that are due have run. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a lone command is committed at once', () => {
  const { commits, batcher } = heldCommits()
  void batcher.submit('t', [named('a')])
  expect(commits.map(({ names }) => names)).toEqual([['a']])
})

test('what arrives during a commit forms one next commit, in order', async () => {
  const { commits, batcher } = heldCommits()
  const answers = ['a', 'b', 'c', 'd'].map((name) => batcher.submit('t', [named(name)]))
  commits[0]!.end()
  await answers[0]
  await turn()
  commits[1]!.end()
  await Promise.all(answers)
  expect(commits.map(({ names }) => names)).toEqual([['a'], ['b', 'c', 'd']])
})

test('nobody is answered before the commit that carries their command', async () => {
  const { commits, batcher } = heldCommits()
  const answered: string[] = []
  for (const name of ['a', 'b']) void batcher.submit('t', [named(name)]).then(() => answered.push(name))
  await turn()
  expect(answered).toEqual([])
  commits[0]!.end()
  await turn()
  expect(answered).toEqual(['a'])
})

test('each caller gets the results of its own commands, in their order', async () => {
  const { commits, batcher } = heldCommits()
  const first = batcher.submit('t', [named('a')])
  const second = batcher.submit('t', [named('b'), named('c')])
  const third = batcher.submit('t', [named('d')])
  commits[0]!.end()
  await first
  await turn()
  commits[1]!.end()
  expect([replies(await second), replies(await third)]).toEqual([['b', 'c'], ['d']])
})

test('a commit takes a thousand commands, and the rest goes into the next', async () => {
  const { commits, batcher } = heldCommits()
  void batcher.submit('t', [named('first')])
  for (let count = 0; count < 1_001; count++) void batcher.submit('t', [named(String(count))])
  for (let round = 0; round < 3; round++) {
    commits[round]!.end()
    await turn()
  }
  expect(commits.map(({ names }) => names.length)).toEqual([1, 1_000, 1])
})

test('one call is never split, even if it is larger than a commit should be', async () => {
  const { commits, batcher } = heldCommits()
  void batcher.submit('t', [named('first')])
  void batcher.submit(
    't',
    Array.from({ length: 1_001 }, (_, index) => named(String(index))),
  )
  void batcher.submit('t', [named('last')])
  for (let round = 0; round < 3; round++) {
    commits[round]!.end()
    await turn()
  }
  expect(commits.map(({ names }) => names.length)).toEqual([1, 1_001, 1])
})

test('a commit takes 16 MiB of payload, and the rest goes into the next', async () => {
  const { commits, batcher } = heldCommits()
  const MIB = 1_048_576
  // Only its size is looked at here.
  const large = (bytes: number) => ({ kind: 'create', bytes }) as Command
  void batcher.submit('t', [named('first')])
  for (const bytes of [8 * MIB, 8 * MIB, 1, 20 * MIB, 1]) void batcher.submit('t', [large(bytes)])
  for (let round = 0; round < 5; round++) {
    commits[round]!.end()
    await turn()
  }
  expect(commits.map(({ names }) => names.length)).toEqual([1, 2, 1, 1, 1])
})

test('tenants do not wait for each other', () => {
  const { commits, batcher } = heldCommits()
  void batcher.submit('one', [named('a')])
  void batcher.submit('other', [named('b')])
  expect(commits.map(({ tenantId }) => tenantId)).toEqual(['one', 'other'])
})

test('a database that is gone is told to everybody in the commit, once', async () => {
  const { commits, batcher } = heldCommits()
  const gone = new GateError('database_unavailable', 'gone')
  const answers = ['a', 'b', 'c'].map((name) => batcher.submit('t', [named(name)]))
  const settled = Promise.allSettled(answers)
  commits[0]!.end()
  await turn()
  commits[1]!.lose(gone)
  expect((await settled).map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(commits).toHaveLength(2)
})

test('a defect that one command meets does not take the others with it', async () => {
  const batches: string[][] = []
  const batcher = createBatcher(async (_tenantId, commands) => {
    batches.push(commands.map(nameOf))
    await turn()
    if (commands.some((command) => nameOf(command) === 'bad')) throw new Error('defect')
    return echo(commands)
  })
  const answers = ['first', 'good', 'bad', 'fine'].map((name) => batcher.submit('t', [named(name)]))
  const settled = await Promise.allSettled(answers)
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(batches).toEqual([['first'], ['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']])
})

test('after a failure the next command is committed as ever', async () => {
  let broken = true
  const batcher = createBatcher(async (_tenantId, commands) => {
    if (broken) throw new GateError('database_unavailable', 'gone')
    return echo(commands)
  })
  await expect(batcher.submit('t', [named('a')])).rejects.toThrow('gone')
  broken = false
  expect(replies(await batcher.submit('t', [named('b')]))).toEqual(['b'])
})

test('idle waits until everything submitted has been answered', async () => {
  const { commits, batcher } = heldCommits()
  const events: string[] = []
  void batcher.submit('t', [named('a')]).then(() => events.push('a'))
  void batcher.submit('t', [named('b')]).then(() => events.push('b'))
  const idle = batcher.idle().then(() => events.push('idle'))
  commits[0]!.end()
  await turn()
  commits[1]!.end()
  await idle
  expect(events).toEqual(['a', 'b', 'idle'])
})

test('a batcher without work is idle', async () => {
  await expect(heldCommits().batcher.idle()).resolves.toBeUndefined()
})

test('a call without commands is answered like any other', async () => {
  const { commits, batcher } = heldCommits()
  const answer = batcher.submit('t', [])
  commits[0]!.end()
  expect(await answer).toEqual([])
})

test('where commits may run side by side, a further one starts once as many calls wait as are under way', async () => {
  const { commits, batcher } = heldCommits({ commitsAtOnce: 2 })
  const submit = (...names: string[]) => void batcher.submit('t', names.map(named))
  const begun = () => commits.map(({ names }) => names.join(''))
  submit('a', 'b')
  submit('c')
  expect(begun()).toEqual(['ab', 'c'])
  for (const name of ['d', 'e', 'f']) submit(name)
  expect(begun()).toHaveLength(2)
  commits[0]!.end()
  await turn()
  expect(begun()).toEqual(['ab', 'c', 'def'])
  commits[1]!.end()
  await turn()
  submit('g')
  submit('h', 'i', 'j')
  expect(begun()).toHaveLength(3)
  submit('k')
  expect(begun().at(-1)).toBe('ghijk')
})

test('what has arrived by the time that a batch is cut goes with it', async () => {
  const { commits, batcher } = heldCommits({ gather: async () => void (await turn()) })
  for (const name of ['a', 'b', 'c']) void batcher.submit('t', [named(name)])
  expect(commits).toEqual([])
  await turn()
  await turn()
  expect(commits.map(({ names }) => names)).toEqual([['a', 'b', 'c']])
})
