// The command line as a whole, without a process: help, replies, errors and exit codes.
import { GateError } from '@asyncgate/sdk'
import { describe, expect, test, vi } from 'vitest'
import { type TerminalParts, testTerminal } from '../../test/terminal.ts'
import { commands } from './commands.ts'
import { cliReference } from './reference.ts'
import { runCli } from './run.ts'

const ID = '0198c0de-0000-7000-8000-000000000001'
const CREATED = {
  task_id: ID,
  status: 'queued',
  is_duplicate: false,
  receipt_id: ID,
  inbox_on_complete: true,
}

async function run(line: string | readonly string[], parts: TerminalParts = {}) {
  const terminal = testTerminal(parts)
  const code = await runCli(typeof line === 'string' ? line.split(' ').filter(Boolean) : line, terminal)
  return { code, ...terminal.shown() }
}

describe('task result', () => {
  const reply = {
    pointer: 'blob:local/x',
    content_type: 'text/plain',
    bytes: 5_000_000,
    download: '/v1/x',
    next_offset: null,
  }
  const shown = async (fetched: object) =>
    (
      await run(`task result ${ID}`, {
        client: { fetchTaskResult: async () => ({ ...reply, ...fetched }) },
        isTTY: true,
      })
    ).out

  test('a terminal shows JSON, text without its control characters, or what there is to save', async () => {
    expect(await shown({ result: { a: 1 } })).toBe('{\n  "a": 1\n}\n')
    expect(await shown({ content: 'red \u001B[31m', encoding: 'utf8' })).not.toContain('\u001B')
    expect(await shown({ content: 'abc', encoding: 'utf8', next_offset: 3 })).toContain('4.8 MiB in all')
    expect(await shown({ content: 'AAAA', encoding: 'base64' })).toBe(
      'text/plain, 4.8 MiB: use --out <file>\n',
    )
    expect(await shown({ content: null, encoding: null, download: null })).toContain('another store')
  })

  test('a file or a pipe gets all of it as it is, with progress for who looks', async () => {
    const content = () => ReadableStream.from([Buffer.from('ab'), Buffer.from('cd')])
    const client = { downloadTaskResult: async () => ({ content: content(), bytes: 4 }) }
    expect(await run(`task result ${ID}`, { client })).toEqual({ code: 0, out: '<abcd>', err: '' })
    const { out, err } = await run(`task result ${ID} --out x.bin`, { client, isTTY: true })
    expect(out).toBe('x.bin<abcd>')
    expect(err).toContain('4 B of 4 B')
  })
})

describe('help', () => {
  test('--help lists every command in its group', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    // Long lines are wrapped.
    const words = out.replaceAll(/\s+/g, ' ')
    for (const { name, summary } of commands) expect(words).toContain(` ${name} ${summary}`)
    expect(out).toMatch(/Run:[^]*Work with tasks:[^]*Inspect:/)
  })

  test.each(commands.map(({ name }) => name))(
    '%s --help shows usage, options and two examples',
    async (name) => {
      const { code, out } = await run(`${name} --help`)
      expect(code).toBe(0)
      expect(out).toContain(`asyncgate ${name}`)
      expect(out).toContain('Options:')
      expect(out.slice(out.indexOf('Examples:')).match(/^ {2}# /gm)?.length).toBeGreaterThanOrEqual(2)
      expect(await run(`help ${name}`)).toEqual({ code, out, err: '' })
    },
  )

  test('no line of help is wider than the terminal it is for', async () => {
    const { out } = await run('task create --help', { isTTY: true, columns: 80, env: { NO_COLOR: '1' } })
    const wide = out
      .split('\n')
      .filter((line) => line.length > 80 && !line.includes('asyncgate task create --type report'))
    expect(wide).toEqual([])
  })

  test('without a command, or with half of one, it is shown on stderr and the exit code is 2', async () => {
    expect(await run('')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('First steps') })
    expect(await run('task')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('task create') })
    expect(await run('task --help')).toMatchObject({ code: 0, out: expect.stringContaining('task create') })
  })

  test('--version', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  test('the reference page has a section for every command', () => {
    const page = cliReference()
    for (const { name } of commands) expect(page).toContain(`\n### ${name}\n`)
  })
})

describe('called wrongly: exit code 2', () => {
  test.each([
    ['tsak list', 'There is no command "tsak list". Did you mean task list?'],
    ['task creat', 'There is no command "task creat". Did you mean task create?'],
    ['tasks', 'There is no command "tasks". Did you mean task?'],
    ['tasks list', 'There is no command "tasks list". Did you mean task list?'],
    [`tasks get ${ID}`, 'There is no command "tasks get". Did you mean task get?'],
    ['key', 'There is no command "key". Did you mean keys?'],
    ['receipt list', 'There is no command "receipt list". Did you mean receipts list?'],
    ['type list', 'There is no command "type list". Did you mean types list?'],
    ['--url x', 'Name a command before --url.'],
    ['task list --stats queued', 'There is no option --stats. Did you mean --status?'],
    ['task get', '<task_id> is missing'],
    [`task get ${ID} --as planner`, `--as can't be "planner". Give kind/id, e.g. agent/planner.`],
    ['config --port many', `--port: port can't be "many". Give a whole number from 0 to 65535.`],
  ])('%s', async (line, message) => {
    const { code, out, err } = await run(line)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(message)
    expect(err).toMatch(/See "asyncgate .*--help"/)
  })
})

describe('refused: exit code 1', () => {
  const refusing = (failure: Error) => ({
    client: {
      listTasks: async () => {
        throw failure
      },
    },
  })

  test('a server that is not there: start one, or say where it is', async () => {
    const cause = Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    })
    const error = new GateError('server_unreachable', 'No answer.', {}, { cause })
    const { code, err } = await run('task list --url http://127.0.0.1:1', refusing(error))
    expect(code).toBe(1)
    expect(err).toContain('No AsyncGate server answers at http://127.0.0.1:1 (ECONNREFUSED).')
    expect(err).toContain('Start one with "asyncgate dev", or give its address with --url or ASYNCGATE_URL.')
  })

  test('a missing key: which variable to set', async () => {
    const { code, err } = await run(
      'task list',
      refusing(new GateError('unauthenticated', 'No API key was sent.')),
    )
    expect(code).toBe(1)
    expect(err).toContain('No API key was sent. [unauthenticated]')
    expect(err).toContain('Set ASYNCGATE_API_KEY')
  })

  test('with --json the error body is the reply', async () => {
    const error = new GateError('not_found', 'No such task.', { request_id: 'r1' })
    const { code, out } = await run('task list --json', refusing(error))
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({
      error: 'not_found',
      message: 'No such task.',
      retryable: false,
      request_id: 'r1',
    })
  })

  test('an unsafe configuration', async () => {
    const nowhere = { ASYNCGATE_DATABASE_URL: 'memory:' } // it is opened before it is refused
    expect(await run('serve', { env: nowhere })).toMatchObject({
      code: 1,
      err: expect.stringContaining('ASYNCGATE_AUTH_API_KEY'),
    })
    expect(await run('dev --host 0.0.0.0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('loopback only'),
    })
    const env = { ASYNCGATE_ENVIRONMENT: 'production' }
    expect(await run('dev', { env })).toMatchObject({ code: 1, err: expect.stringContaining('production') })
  })
})

describe('task create', () => {
  test('sends fields, requirements, recipient and principal under their names on the wire', async () => {
    const createTask = vi.fn(async () => CREATED)
    const args = [
      'task',
      'create',
      '--type',
      'echo',
      '--payload',
      '{"a":1}',
      '--priority',
      '5',
      '--capability',
      'gpu,fast',
    ]
    const who = ['--tag', 'x', '--recipient', 'human/ann', '--as', 'agent/planner']
    const { code, out } = await run([...args, ...who], { client: { createTask } })
    expect(code).toBe(0)
    expect(createTask).toHaveBeenCalledWith({
      type: 'echo',
      payload: { a: 1 },
      priority: 5,
      requirements: { capabilities: ['gpu', 'fast'], tags: ['x'] },
      recipient: { principal_kind: 'human', principal_id: 'ann' },
      principal_kind: 'agent',
      principal_id: 'planner',
    })
    expect(out).toContain(`Created: task ${ID} (queued)`)
    expect(out).toContain(`asyncgate task wait ${ID}`)
  })

  test.each([
    ['-', { stdin: '{"from":"stdin"}' }],
    ['in.json', { files: { 'in.json': '{"from":"file"}' } }],
  ])('reads the payload from %s', async (file, parts) => {
    const createTask = vi.fn(async () => CREATED)
    await run(`task create --type echo --payload-file ${file}`, { ...parts, client: { createTask } })
    expect(createTask).toHaveBeenCalledWith({
      type: 'echo',
      payload: { from: file === '-' ? 'stdin' : 'file' },
    })
  })

  test('refuses two payloads', async () => {
    const { code, err } = await run('task create --type echo --payload {} --payload-file -')
    expect(code).toBe(2)
    expect(err).toContain('not both')
  })

  test('--json prints the exact reply on one line', async () => {
    const { out } = await run('task create --type echo --json', {
      client: { createTask: async () => CREATED },
    })
    expect(out).toBe(`${JSON.stringify(CREATED)}\n`)
  })
})

test('colours are for terminals only and go away with NO_COLOR', async () => {
  // oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
  const colour = /\u001b\[/
  expect((await run('--help', { isTTY: true })).out).toMatch(colour)
  expect((await run('--help', { isTTY: true, env: { NO_COLOR: '1' } })).out).not.toMatch(colour)
  expect((await run('--help')).out).not.toMatch(colour)
})

test('config shows every setting and hides secrets', async () => {
  const env = { ASYNCGATE_AUTH_API_KEY: 'hush', ASYNCGATE_DATABASE_URL: 'postgres://me:hush@db/gate' }
  const { code, out } = await run('config --port 9', { env })
  expect(code).toBe(0)
  expect(out).toMatch(/^port +9 +--port /m)
  expect(out).toContain('postgres://me:********@db/gate')
  expect(out).not.toContain('hush')
  expect(JSON.parse((await run('config --json', { env })).out)).toContainEqual(
    expect.objectContaining({ key: 'auth.api_key', value: '********', source: 'env' }),
  )
})

describe('task get', () => {
  const TASK = {
    task_id: ID,
    type: 'echo',
    status: 'queued',
    attempt: 0,
    max_attempts: 3,
    created_by: { principal_kind: 'agent', principal_id: 'a' },
    recipient: { principal_kind: 'agent', principal_id: 'a' },
    created_at: '1970-01-01T00:00:00.000Z',
    next_eligible_at: '1970-01-01T00:00:00.000Z',
    started_at: null,
    completed_at: null,
    deadline_at: null,
    result: null,
  }
  const shown = async (task: object, more: object = {}) => {
    const client = { getTask: async () => ({ ...TASK, ...task }), ...more }
    return (await run(`task get ${ID}`, { client })).out
  }

  test('in a backoff it shows the last error and when the next attempt is', async () => {
    const reasons = [{ reason: 'delayed', message: '', last_error: { code: 'boom', message: 'It broke.' } }]
    const backoff = { attempt: 1, next_eligible_at: '1970-01-01T00:00:30.000Z' }
    const out = await shown(backoff, { explainTask: async () => ({ reasons }) })
    expect(out).toMatch(/^next attempt +in 30s \(1970-01-01T00:00:30\.000Z\)$/m)
    expect(out).toMatch(/^attempts +1 of 3$/m)
    expect(out).toMatch(/^last error[^]*"code": "boom"/m)
  })

  test('a delayed task has no last error, and nobody is asked for one', async () => {
    const out = await shown({ next_eligible_at: '1970-01-01T00:00:30.000Z' })
    expect(out).toMatch(/^eligible +in 30s/m)
    expect(out).not.toContain('last error')
  })

  test.each([
    ['queued', 0, '0 of 3'],
    ['running', 0, '1 of 3'],
    ['leased', 1, '2 of 3'],
    ['succeeded', 0, '1 of 3'],
    ['succeeded', 2, '3 of 3'],
    ['failed', 3, '3 of 3'],
    ['canceled', 0, '0 of 3'],
  ])('%s after %i failures: %s', async (status, attempt, text) => {
    expect(await shown({ status, attempt })).toMatch(new RegExp(`^attempts +${text}$`, 'm'))
  })
})

test.each([
  ['running', 'a worker is on it'],
  ['succeeded', 'it has ended'],
  ['queued', 'no worker would be given it now'],
])('task explain of one that is %s: %s', async (status, says) => {
  const explainTask = async () => ({
    status,
    claimable: false,
    reasons: [{ reason: 'x', message: 'Because.' }],
  })
  const { out } = await run(`task explain ${ID}`, { client: { explainTask } })
  expect(out).toBe(`${status}: ${says}\n- Because. [x]\n`)
})

describe('a variable that nothing reads', () => {
  const client = { listTasks: async () => ({ tasks: [], next_cursor: null }) }

  test('is told by a call, which goes on', async () => {
    const { code, err } = await run('task list', { client, env: { ASYNCGATE_APIKEY: 'k' } })
    expect(code).toBe(0)
    expect(err).toBe('warning: ASYNCGATE_APIKEY: No key has this variable. Did you mean ASYNCGATE_API_KEY?\n')
  })

  test('is refused by a server, with the nearest', async () => {
    const env = { ASYNCGATE_DATABASE_ULR: 'x' }
    const { code, err } = await run('config', { env })
    expect(code).toBe(1)
    expect(err).toContain(
      'ASYNCGATE_DATABASE_ULR: No key has this variable. Did you mean ASYNCGATE_DATABASE_URL?',
    )
  })

  test('is not one that the server reads', async () => {
    const env = { ASYNCGATE_URL: 'http://x', ASYNCGATE_API_KEY: 'k', ASYNCGATE_LEASE_GRACE_SECONDS: '3' }
    expect((await run('task list', { client, env })).err).toBe('')
  })
})
