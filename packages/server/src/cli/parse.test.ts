// Arguments: by the command's table, with mistakes explained.
import { expect, test } from 'vitest'
import { command } from './command.ts'
import { UsageError } from './failure.ts'
import { parseArguments } from './parse.ts'

const sample = command({
  name: 'sample',
  group: 'tasks',
  summary: 'For tests.',
  positionals: [{ name: 'task_id', about: 'The task.' }],
  fields: () => ({
    'max-attempts': { kind: 'whole', about: '' },
    type: { kind: 'text', about: '', required: true },
  }),
  options: {
    tag: { kind: 'list', about: '' },
    payload: { kind: 'json', about: '' },
    mode: { kind: 'text', about: '', choices: ['fast', 'slow'] },
    json: { kind: 'switch', about: '' },
  },
  examples: [],
  run: async () => 0,
})
const configured = command({
  name: 'configured',
  group: 'run',
  summary: 'For tests.',
  configured: true,
  options: { database: { kind: 'text', about: '' }, json: { kind: 'switch', about: '' } },
  examples: [],
  run: async () => 0,
})

test('values take the types of their options, and fields their names on the wire', () => {
  const args = [
    't1',
    '--type=echo',
    '--max-attempts',
    '2',
    '--tag',
    'a,b',
    '--tag',
    'c',
    '--payload',
    '{"a":1}',
    '--json',
  ]
  expect(parseArguments(sample, args)).toMatchObject({
    positionals: ['t1'],
    values: { tag: ['a', 'b', 'c'], payload: { a: 1 }, json: true },
    input: { type: 'echo', max_attempts: 2 },
    help: false,
  })
})

test('a negative number is a value', () => {
  expect(parseArguments(sample, ['t1', '--type', 'x', '--max-attempts', '-5']).input.max_attempts).toBe(-5)
})

test.each<[string, string[], string]>([
  ['an unknown option', ['t1', '--typ', 'x'], 'There is no option --typ. Did you mean --type?'],
  ['a required option left out', ['t1'], '--type is missing: --type <text>'],
  ['a required argument left out', ['--type', 'x'], '<task_id> is missing: The task.'],
  ['an argument too many', ['t1', 't2', '--type', 'x'], '"t2" is one argument too many.'],
  ['a value left out', ['t1', '--type', '--json'], '--type needs a value: --type <text>'],
  ['a value left out at the end', ['t1', '--type'], '--type needs a value: --type <text>'],
  ['a value for a switch', ['t1', '--json=yes', '--type', 'x'], '--json takes no value.'],
  [
    'text for a number',
    ['t1', '--max-attempts', 'two'],
    `--max-attempts can't be "two". Give a whole number.`,
  ],
  [
    'no such choice',
    ['t1', '--mode', 'fats'],
    `--mode can't be "fats". Did you mean fast? Give one of fast, slow.`,
  ],
])('explains %s', (_what, args, message) => {
  expect(() => parseArguments(sample, args)).toThrow(new UsageError(message))
})

test('broken JSON is explained with how to quote it', () => {
  expect(() => parseArguments(sample, ['t1', '--payload', '{a:1}'])).toThrow(
    /^--payload is not JSON: .*single quotes/,
  )
})

test('--help is found whatever else is missing', () => {
  expect(parseArguments(sample, ['--help']).help).toBe(true)
  expect(parseArguments(sample, ['-h']).help).toBe(true)
})

test('a configured command takes every setting as a flag', () => {
  const args = ['--database', 'memory:', '--lease-sweep-interval-seconds', '5', '--json']
  expect(parseArguments(configured, args).settings).toEqual({
    database: 'memory:',
    'lease-sweep-interval-seconds': '5',
  })
  expect(() => parseArguments(configured, ['--lease-sweep-seconds', '5'])).toThrow('There is no option')
  expect(() => parseArguments(sample, ['t1', '--type', 'x', '--log-level', 'debug'])).toThrow(
    'There is no option',
  )
})
