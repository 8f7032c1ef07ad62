// The command line as people and programs use it: processes, exit codes, a real server on SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { appendFile, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@asyncgate/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type CliServer, runCommand, startCliServer } from './cli-process.ts'
import { verifies } from './requirements.ts'

let folder: string
const stoppers: (() => Promise<unknown>)[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asyncgate-cli-'))
})
afterEach(async () => {
  for (const stop of stoppers.splice(0)) await stop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(args: readonly string[], env: Record<string, string> = {}): Promise<CliServer> {
  const server = await startCliServer(args, { cwd: folder, env })
  stoppers.push(() => server.stop('SIGKILL'))
  return server
}

const dev = (name: string) => start(['dev', '--no-worker', '--database', `sqlite:./${name}.db`])

function asyncgate(line: string | readonly string[], env: Record<string, string> = {}) {
  return runCommand(typeof line === 'string' ? line.split(' ') : line, { cwd: folder, env })
}

describe('tasks', () => {
  let server: CliServer
  let env: Record<string, string>

  beforeAll(async () => {
    server = await startCliServer(['dev', '--no-worker', '--database', 'sqlite:./tasks.db'], {
      cwd: folder,
      env: {},
    })
    env = { ASYNCGATE_URL: server.url }
  })
  afterAll(() => server.stop('SIGTERM'))

  test('from creation to the proof of its end', async () => {
    const created = await asyncgate(
      ['task', 'create', '--type', 'echo', '--payload', '{"a":1}', '--json'],
      env,
    )
    expect(created.code).toBe(0)
    const { task_id: taskId, receipt_id: receiptId } = JSON.parse(created.out)

    const [listed, explained, open] = await Promise.all([
      asyncgate('task list --status queued', env),
      asyncgate(`task explain ${taskId}`, env),
      asyncgate('obligations', env),
    ])
    expect(listed.out).toMatch(new RegExp(`TASK +STATUS +TYPE.*\n${taskId} +queued +echo`))
    expect(explained.out).toMatch(/^queued: /)
    expect(open.out).toContain(receiptId)
    expect(open.out).toMatch(/Look at one with: asyncgate task get <task>$/m)

    const client = createClient({ url: server.url })
    const { tasks } = await client.leaseNext({ worker_id: 'w1', accept_types: ['echo'] })
    const { lease_id } = tasks[0]!
    await client.complete({
      worker_id: 'w1',
      task_id: taskId,
      lease_id,
      result: { b: 2 },
      store_result: true,
    })

    const [ended, left, history, proof] = await Promise.all([
      asyncgate(`task get ${taskId} --json`, env),
      asyncgate('obligations', env),
      asyncgate(`receipts list --task-id ${taskId}`, env),
      asyncgate(`receipts get ${receiptId} --json`, env),
    ])
    expect(JSON.parse(ended.out)).toMatchObject({ status: 'succeeded', result: { result: { b: 2 } } })
    expect(left.out).not.toContain(receiptId)
    expect(history.out).toMatch(/task\.assigned[^]*task\.completed/)
    expect(JSON.parse(proof.out).discharged_by).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('create --wait stays for the result', async () => {
    const waiting = asyncgate(['task', 'create', '--type', 'slow', '--wait'], env)
    const client = createClient({ url: server.url })
    const claim = { worker_id: 'w1', accept_types: ['slow'], wait_seconds: 20 }
    const { task_id, lease_id } = (await client.leaseNext(claim)).tasks[0]!
    await client.complete({ worker_id: 'w1', task_id, lease_id, result: 'done', store_result: true })
    expect(await waiting).toMatchObject({ code: 0, out: expect.stringContaining('"done"') })
  })

  test('a large result is saved whole to a file or a pipe', async () => {
    const client = createClient({ url: server.url })
    const { task_id } = await client.createTask({ type: 'film' })
    const [held] = (await client.leaseNext({ worker_id: 'w1', accept_types: ['film'] })).tasks
    const lease = { worker_id: 'w1', task_id, lease_id: held!.lease_id }
    const film = Buffer.alloc(3_000_000, 'reel ')
    const stored = await client.uploadTaskResult({ ...lease, content_type: 'video/mp4' }, film)
    await client.complete({ ...lease, artifacts: [stored] })
    const waited = await asyncgate(`task wait ${task_id}`, env)
    expect(waited).toMatchObject({
      code: 0,
      out: expect.stringContaining(`asyncgate task result ${task_id}`),
    })
    expect(await asyncgate(`task result ${task_id} --out film.mp4`, env)).toMatchObject({ code: 0, out: '' })
    expect(await readFile(join(folder, 'film.mp4'))).toEqual(film)
    expect((await asyncgate(`task result ${task_id}`, env)).out).toBe(film.toString())
    const shown = JSON.parse((await asyncgate(`task result ${task_id} --json`, env)).out)
    expect(shown).toMatchObject({ channel: 'blob', bytes: film.length, verified: true })
    const [blob] = await readdir(join(folder, 'tasks.db-results/default', task_id))
    await appendFile(join(folder, 'tasks.db-results/default', task_id, blob!), '!')
    const broken = await asyncgate(`task result ${task_id} --out broken.mp4`, env)
    expect(broken.code).toBe(1)
    expect((await readdir(folder)).filter((name) => name.startsWith('broken'))).toEqual([])
  })

  test('cancel, once and again', async () => {
    const { task_id: id } = await createClient({ url: server.url }).createTask({ type: 'never' })
    expect(await asyncgate(`task cancel ${id}`, env)).toMatchObject({ code: 0, out: 'Canceled.\n' })
    expect(await asyncgate(`task cancel ${id}`, env)).toMatchObject({
      code: 1,
      out: expect.stringContaining('(canceled)'),
    })
    expect(await asyncgate(`task wait ${id}`, env)).toMatchObject({ code: 1 })
  })

  test('what the server refuses is exit code 1, with its words', async () => {
    const unknown = '0198c0de-0000-7000-8000-000000000001'
    const { code, err } = await asyncgate(`task get ${unknown}`, env)
    expect(code).toBe(1)
    expect(err).toContain('[not_found')
    const asJson = await asyncgate(`task get ${unknown} --json`, env)
    expect(JSON.parse(asJson.out)).toMatchObject({ error: 'not_found', request_id: expect.any(String) })
  })
})

describe('schedules', () => {
  const LINE = ['schedule', 'create', 'every weekday at 7', '--cron', '0 7 * * 1-5', '--tz', 'Europe/Berlin']

  verifies(
    'SCH-1',
    'dev takes a schedule, shows its next five runs in its zone, pauses and ends it',
    async () => {
      const { url } = await start(['dev', '--database', 'memory:'])
      const env = { ASYNCGATE_URL: url }
      const created = await asyncgate([...LINE, '--type', 'echo', '--payload', '{"day":"{{run_at}}"}'], env)
      expect(created).toMatchObject({ code: 0, err: '' })
      expect(created.out.match(/(Mon|Tue|Wed|Thu|Fri) \d{4}-\d\d-\d\d 07:00:00 (CET|CEST)/g)).toHaveLength(5)
      const { schedules } = JSON.parse((await asyncgate('schedule list --json', env)).out)
      const { schedule_id: id } = schedules[0]
      const open = await asyncgate('obligations', env)
      expect(open.out).toMatch(new RegExp(`schedule\\.created .*${id}[^]*asyncgate schedule status <task>`))
      expect((await asyncgate('schedule list', env)).out).toMatch(
        new RegExp(`${id} +active +0 7 .* Europe/Berlin`),
      )
      expect((await asyncgate(`schedule pause ${id}`, env)).out).toMatch(/status +paused/)
      expect((await asyncgate(`schedule resume ${id} --json`, env)).out).toContain('"status":"active"')
      expect(await asyncgate(`schedule delete ${id}`, env)).toMatchObject({ code: 0 })
      expect(await asyncgate(`schedule status ${id}`, env)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`No schedule ${id}`),
      })
    },
  )

  test('what is asked for wrongly is said before or by the scheduler', async () => {
    const { url } = await start(['dev', '--database', 'memory:'])
    const env = { ASYNCGATE_URL: url }
    expect(await asyncgate(['schedule', 'create', 'x', '--type', 'echo'], env)).toMatchObject({ code: 2 })
    const refused = await asyncgate([...LINE, '--tz', 'Mars/Olympus', '--type', 'echo'], env)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('timezone: it is no time zone') })
  })
})

verifies('SDK-3', 'dev does the first task before the eyes of who created it', async () => {
  const { url } = await start(['dev', '--database', 'memory:'])
  const line = ['task', 'create', '--type', 'echo', '--payload', '{"hello":"world"}', '--wait', '--url', url]
  const { code, out } = await asyncgate(line)
  expect(code).toBe(0)
  expect(out).toContain('"hello": "world"')
  expect((await asyncgate(`obligations --url ${url}`)).out).toContain('Nothing is open')
})

verifies('AUTH-4', 'dev refuses other addresses and production, before it listens', async () => {
  expect(await asyncgate('dev --port 0 --host 0.0.0.0')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('loopback only'),
  })
  expect(await asyncgate('dev --port 0', { ASYNCGATE_ENVIRONMENT: 'production' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('refuses to run in production'),
  })
})

verifies('AUTH-4', 'dev says loudly that it asks for no credentials', async () => {
  const server = await dev('loud')
  await server.stop('SIGTERM')
  expect(server.err()).toContain('DEVELOPMENT MODE: no credentials are asked for.')
})

test('keys are made on the database, used on its server, listed and revoked through it', async () => {
  const database = ['--database', 'sqlite:./made.db']
  const refused = await asyncgate(['serve', '--port', '0', ...database])
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('asyncgate keys create') })
  const create = ['keys', 'create', '--role', 'admin', '--principal', 'human/ada', '--name', 'first']
  const made = await asyncgate([...create, ...database, '--json'])
  expect(made).toMatchObject({ code: 0, err: '' })
  const { api_key: key, key_id: keyId, prefix } = JSON.parse(made.out)

  const { url } = await start(['serve', ...database])
  const env = { ASYNCGATE_API_KEY: key }
  const worker = ['keys', 'create', '--role', 'worker', '--principal', 'worker/indexer', '--url', url]
  const [created, listed] = [await asyncgate(worker, env), await asyncgate(`keys list --url ${url}`, env)]
  expect(created.out).toMatch(/^key +aga_\w{52}\n[^]*shown this once/)
  expect(listed.out).toMatch(new RegExp(`${keyId} +${prefix} +active +admin +human/ada`))
  const rotated = await asyncgate(`keys rotate ${keyId} --overlap-seconds 3600 --url ${url} --json`, env)
  expect(JSON.parse(rotated.out)).toMatchObject({ name: 'first', role: 'admin' })
  const next = { ASYNCGATE_API_KEY: JSON.parse(rotated.out).api_key }
  const revoked = await asyncgate(`keys revoke ${keyId} --url ${url}`, next)
  expect(revoked).toMatchObject({ code: 0, out: expect.stringContaining(`Revoked ${prefix}`) })
  const left = await asyncgate(['keys', 'list', ...database])
  expect(left.out).toMatch(new RegExp(`${keyId} +${prefix} +revoked`))
})

test('tenants are added on the database, and have keys of their own', async () => {
  const database = '--database sqlite:./tenants.db'
  const unknown = await asyncgate(`keys create --role admin --principal human/w --tenant acme ${database}`)
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('asyncgate tenants create acme') })
  expect(await asyncgate(`tenants create acme ${database}`)).toMatchObject({
    code: 0,
    out: 'Added: acme (active)\n',
  })
  const made = await asyncgate(`tenants key acme --principal human/w ${database} --json`)
  const { url } = await start(['serve', ...database.split(' ')])
  const env = { ASYNCGATE_API_KEY: JSON.parse(made.out).api_key as string }
  expect((await asyncgate(`keys list --url ${url}`, env)).out).toMatch(/active +admin +human\/w/)
  expect(await asyncgate(`tenants list --url ${url}`, env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('role operator'),
  })

  const operator = await asyncgate(`keys create --role operator --principal human/olga ${database} --json`)
  const olga = { ASYNCGATE_API_KEY: JSON.parse(operator.out).api_key as string }
  expect(await asyncgate(`tenants suspend acme --url ${url}`, olga)).toMatchObject({
    code: 0,
    out: 'acme is suspended.\n',
  })
  expect((await asyncgate(`tenants list --url ${url}`, olga)).out).toMatch(
    /acme +suspended[^]*default +active/,
  )
  expect(await asyncgate(`tenants resume acme --url ${url}`, olga)).toMatchObject({
    out: 'acme is active.\n',
  })

  const limited = await asyncgate(`tenants limit acme --tier free --active-tasks 7 --url ${url}`, olga)
  expect(limited.out).toMatch(/^tenant +acme\ntier +free\n[^]*active tasks +7\n[^]*payload bytes +unlimited/)
  expect((await asyncgate(`tenants list ${database}`)).out).toMatch(/acme +active +free/)

  // The tenant's own log, through its server, and the operators', on the database.
  const own = await asyncgate(`audit list --event tenant.limited --url ${url}`, env)
  expect(own.out).toMatch(/SEVERITY[^]*info +tenant\.limited +human\/olga +127\.0\.0\.1 +.*tier free/)
  const all = await asyncgate(`audit list --severity warning --since 2020-01-01T00:00:00Z --json ${database}`)
  const events = (JSON.parse(all.out) as { audit: { event: string }[] }).audit.map(({ event }) => event)
  expect(events).toEqual(['tenant.suspended'])
  expect((await asyncgate(`audit list --event audit.incomplete ${database}`)).out).toBe(
    'Nothing is on record.\n',
  )
})

test('keys in memory would be lost, and a tenant goes with a database', async () => {
  const create = 'keys create --role agent --principal agent/a'
  expect(await asyncgate(`${create} --database memory:`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('lost at once'),
  })
  expect(await asyncgate(`${create} --tenant acme --url http://127.0.0.1:1`)).toMatchObject({ code: 2 })
})

test('serve asks for its key, and the commands send it from ASYNCGATE_API_KEY', async () => {
  const key = 'a-shared-key-for-this-test'
  const { url } = await start(['serve', '--database', 'sqlite:./keys.db'], { ASYNCGATE_AUTH_API_KEY: key })
  expect(await asyncgate(`task list --url ${url}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Set ASYNCGATE_API_KEY'),
  })
  expect(await asyncgate(`task list --url ${url}`, { ASYNCGATE_API_KEY: key })).toMatchObject({ code: 0 })
})

/** Until the server holds a claim. */
async function waitingClaim(url: string): Promise<void> {
  for (;;) {
    const health = (await (await fetch(`${url}/health`)).json()) as { waiting_claims: number }
    if (health.waiting_claims > 0) return
  }
}

verifies('OPER-5', 'SIGTERM answers held calls, stops within seconds and loses nothing', async () => {
  const first = await dev('graceful')
  const client = createClient({ url: first.url, retry: false })
  const { task_id: taskId } = await client.createTask({ type: 'kept' })
  const held = client.leaseNext({ worker_id: 'w1', accept_types: ['other'], wait_seconds: 60 })
  await waitingClaim(first.url)
  const stopping = first.stop('SIGTERM')
  expect(await held).toEqual({ tasks: [] })
  expect(await stopping).toBe(0)
  const second = await dev('graceful')
  expect(await createClient({ url: second.url }).getTask({ task_id: taskId })).toMatchObject({
    status: 'queued',
  })
})

verifies('OPER-6', 'file, environment and flags, in that order; mistakes name source and key', async () => {
  const env = { ASYNCGATE_LEASE_MAX_RENEWALS: '7', ASYNCGATE_LEASE_GRACE_SECONDS: '3' }
  const { out } = await asyncgate('config --json --lease-max-renewals 9', env)
  expect(JSON.parse(out)).toContainEqual(
    expect.objectContaining({ key: 'lease.max_renewals', value: 9, source: 'flag' }),
  )
  expect(JSON.parse(out)).toContainEqual(
    expect.objectContaining({ key: 'lease.grace_seconds', value: 3, source: 'env' }),
  )
  expect(await asyncgate('config', { ASYNCGATE_LEASE_GRACE: '3' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('ASYNCGATE_LEASE_GRACE: No key has this variable. Did you mean'),
  })
})

test('a port that is taken is told with the way out', async () => {
  const { port } = await dev('taken')
  const second = await asyncgate(`dev --port ${port} --database memory:`)
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('--port 0 for any free one') })
})

test('migrate says what is missing, brings it, and then has nothing to do', async () => {
  const database = '--database sqlite:./migrate.db'
  expect(await asyncgate(`migrate --dry-run ${database}`)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^Would apply:/),
  })
  expect(await asyncgate(`migrate ${database}`)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Applied:/),
  })
  expect(await asyncgate(`migrate ${database}`)).toMatchObject({ code: 0, out: 'The schema is current.\n' })
})

test('doctor finds a running server and its database well', async () => {
  const { port } = await dev('doctor')
  const { code, out } = await asyncgate(
    `doctor --json --port ${port} --database sqlite:./doctor.db --auth-mode dev`,
  )
  expect(code).toBe(0)
  const findings = Object.fromEntries(
    (JSON.parse(out) as { check: string; status: string }[]).map(({ check, status }) => [check, status]),
  )
  expect(findings).toEqual({
    node: 'ok',
    configuration: 'ok',
    access: 'warn',
    address: 'ok',
    environment: 'ok',
    transport: 'ok',
    browsers: 'ok',
    metrics: 'ok',
    links: 'ok',
    channels: 'ok',
    database: 'ok',
    schema: 'ok',
    tenants: 'ok',
    durability: 'ok',
    clock: 'ok',
    ledger: 'ok',
    keys: 'ok',
  })
})

verifies('MCP-1', 'mcp on stdio writes nothing but the protocol to stdout', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const { code, out } = await runCommand(['mcp', '--database', 'sqlite:./mcp.db', '--log-level', 'debug'], {
    cwd: folder,
    env: {},
    input: `${JSON.stringify(initialize)}\n`,
  })
  expect(code).toBe(0)
  const replies = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(replies).toMatchObject([{ id: 1, result: { serverInfo: { name: 'asyncgate' } } }])
})
