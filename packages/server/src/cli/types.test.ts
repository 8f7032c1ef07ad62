// Task types from the command line, on a database of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTerminal } from '../../test/terminal.ts'
import { runCli } from './run.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asyncgate-types-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const YAML = `
task_type: report.render
description: Renders a report.
params_schema:
  type: object
  required: [pages]
max_concurrent: 3
`

async function run(line: string, input: { stdin?: string; files?: Record<string, string> } = {}) {
  const terminal = testTerminal(input)
  const args = [...line.split(' '), '--database', `sqlite:${join(folder, 'types.db')}`]
  return { code: await runCli(args, terminal), ...terminal.shown() }
}

test('a type is put from a file, listed, shown and deleted', async () => {
  expect(await run('types list')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no database'),
  })
  const files = { 'report.yaml': YAML }
  expect(await run('types put report.yaml', { files })).toMatchObject({
    code: 0,
    out: 'Registered: report.render\n',
  })
  expect((await run('types list')).out).toMatch(/report\.render +enabled +yes +3 .* Renders a report\./)
  const shown = await run('types show report.render')
  expect(shown.out).toMatch(/^max concurrent +3$/m)
  expect(shown.out).toContain('"required"')
  const { out } = await run('types show report.render --json')
  expect(JSON.parse(out)).toMatchObject({
    params_schema: { type: 'object', required: ['pages'] },
    enabled: true,
  })
  expect(await run('types delete report.render')).toMatchObject({
    code: 0,
    out: 'Forgotten: report.render\n',
  })
  expect(await run('types show report.render')).toMatchObject({
    code: 1,
    err: expect.stringContaining('not_found'),
  })
})

test('JSON comes from stdin too', async () => {
  const stdin = '{"task_type": "echo", "enabled": false}'
  expect(await run('types put -', { stdin })).toMatchObject({ code: 0, out: 'Registered: echo\n' })
  expect((await run('types list')).out).toMatch(/echo +disabled/)
})

test('other types are refused, and accepted again', async () => {
  expect((await run('types registered-only on')).out).toBe('Only registered types are accepted.\n')
  expect((await run('types list')).out).toContain('Only registered types are accepted.')
  expect((await run('types registered-only off')).out).toBe('Other types are accepted too.\n')
  expect(await run('types registered-only yes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('on or off'),
  })
})

test.each([
  ['no mapping', '- a', 2, 'must hold one task type'],
  ['no YAML', 'a: [1', 2, 'bad.yaml:1'],
  ['a misspelt field', 'task_type: a\nmax_concurent: 3', 1, 'max_concurent'],
  ['a schema that cannot be used', 'task_type: a\nparams_schema: { type: text }', 1, 'params_schema'],
])('a file is refused: %s', async (_what, text, code, says) => {
  const refused = await run('types put bad.yaml', { files: { 'bad.yaml': text } })
  expect(refused).toMatchObject({ code, err: expect.stringContaining(says) })
})

test('a server that is named for all commands is meant, unless a database is named', async () => {
  const asked: unknown[] = []
  const client = {
    listTaskTypes: async (input: unknown) => {
      asked.push(input)
      return { types: [], registered_only: false, next_cursor: null }
    },
  }
  const terminal = testTerminal({ client, env: { ASYNCGATE_URL: 'gate.example.org' } })
  expect(await runCli(['types', 'list'], terminal)).toBe(0)
  expect(asked).toHaveLength(1)
  const missing = `sqlite:${join(folder, 'nowhere.db')}`
  expect(await runCli(['types', 'list', '--database', missing], terminal)).toBe(1)
  expect(asked).toHaveLength(1)
})
