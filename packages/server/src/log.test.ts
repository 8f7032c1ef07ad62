// Logs: JSON or one readable line, never a secret.
import { expect, test } from 'vitest'
import { configOf } from './config.ts'
import { createLog } from './log.ts'

function capture(format: 'auto' | 'json' | 'pretty', isTTY = false) {
  const lines: string[] = []
  const log = createLog(configOf({ log: { format } }), { isTTY, write: (text) => lines.push(text) })
  return { log, lines }
}

test('a line is JSON with a level name, an ISO time and a message', () => {
  const { log, lines } = capture('auto')
  log.info({ task_id: 't1' }, 'task created')
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'info',
    time: expect.stringMatching(/Z$/),
    task_id: 't1',
    message: 'task created',
  })
})

test.each<[string, Record<string, unknown>]>([
  ['none', {}],
  ['of every plain type', { text: 'a', number: 1.5, yes: true, no: undefined, not: Number.NaN }],
  ['to be escaped', { 'a "name"': '"\\\n\u0001é😀\ud800', long: 'ö'.repeat(100) }],
  ['to be blanked', { token: 'hush', Password: 'hush', cookie: undefined }],
  ['with an error as text', { error: 'boom', err: 'boom' }],
  ['with null and objects', { nothing: null, list: [1], error: new Error('boom') }],
])('fields %s are written by the short way as by the long one', (_what, fields) => {
  const lines: string[] = []
  const log = createLog({ ...configOf(), instanceId: 'one "1"' }, { write: (text) => lines.push(text) })
  log.warn(fields, 'done: 100 %d "of" them')
  log.child({}).warn(fields, 'done: 100 %d "of" them') // children always go the long way
  const [short, long] = lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'))
  expect(short).toBe(long)
})

test('below its level a log writes nothing', () => {
  const lines: string[] = []
  const log = createLog(configOf({ log: { level: 'warn' } }), { write: (text) => lines.push(text) })
  log.info({ a: 1 }, 'unseen')
  expect(lines).toEqual([])
})

test('on a terminal it is one line for people, coloured', () => {
  const { log, lines } = capture('auto', true)
  log.warn({ task_id: 't1', note: 'two words' }, 'slow')
  expect(lines[0]).toContain('slow')
  expect(lines[0]).toContain('\u001b[')
  expect(lines[0]).toMatch(/note="two words".*\n$/)
})

test('pretty without a terminal has no colours, and errors show their stack below', () => {
  const { log, lines } = capture('pretty')
  log.error({ error: new Error('boom') }, 'failed')
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} error failed\n {2}Error: boom\n/)
})

test.each(['json', 'pretty'] as const)('secrets are blanked at any depth in %s', (format) => {
  const { log, lines } = capture(format)
  const headers = { authorization: 'Bearer hush', 'X-Api-Key': 'hush' }
  log
    .child({ api_key: 'hush' })
    .info({ headers, request: { body: { auth: { password: 'hush' } } } }, 'request')
  expect(lines[0]).not.toContain('hush')
  expect(lines[0]).toContain('********')
  expect(headers.authorization).toBe('Bearer hush')
})
