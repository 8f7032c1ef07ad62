// `serve --processes`: several processes behind one port are one server to its callers.
import { tmpdir } from 'node:os'
import { createClient } from '@asyncgate/sdk'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CliServer, runCommand, startCliServer } from './cli-process.ts'
import { createDatabase, type TestDatabase } from './database.ts'

const KEY = 'the-key-of-the-test'
const PROCESSES = 2

describe('serve --processes', () => {
  let database: TestDatabase
  let server: CliServer

  beforeEach(async () => {
    database = await createDatabase()
    server = await startCliServer(['serve', '--processes', String(PROCESSES)], {
      cwd: tmpdir(),
      env: {
        ASYNCGATE_AUTH_API_KEY: KEY,
        ASYNCGATE_DATABASE_URL: database.url,
        ASYNCGATE_DATABASE_MIGRATION_URL: database.migrationUrl,
      },
    })
  }, 60_000)
  afterEach(async () => {
    await server.stop('SIGTERM')
    await database.drop()
  })

  const headers = { authorization: `Bearer ${KEY}`, connection: 'close' }

  /** Connections go to the processes in turn; each call here is one of its own. */
  async function instances(): Promise<Set<string>> {
    const found = new Set<string>()
    for (let call = 0; call < 4 * PROCESSES; call += 1) {
      // A connection that was handed to a process in the moment of its death is answered by nobody.
      const signal = AbortSignal.timeout(2_000)
      const reply = await fetch(`${server.url}/health`, { headers, signal })
      found.add(((await reply.json()) as { instance_id: string }).instance_id)
    }
    return found
  }

  test('every process serves', async () => {
    expect((await instances()).size).toBe(PROCESSES)
  })

  test('the figures are those of all processes together, whichever is asked', async () => {
    const client = createClient({ url: server.url, apiKey: KEY })
    for (let task = 0; task < 12; task += 1) {
      const body = JSON.stringify({ type: 'counted', payload: {} })
      await fetch(`${server.url}/v1/tasks`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
    }
    expect((await client.listTasks({})).tasks).toHaveLength(12)
    for (let call = 0; call < PROCESSES; call += 1) {
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
      expect(text).toContain('asyncgate_tasks_created_total{type="counted"} 12\n')
      expect(text).toContain('asyncgate_tasks{status="queued"} 12\n')
    }
  })

  test('a process that is killed is replaced, and nothing acknowledged is lost', async () => {
    const client = createClient({ url: server.url, apiKey: KEY })
    const { task_id } = await client.createTask({ type: 'kept', payload: {} })
    const before = await instances()
    process.kill(memberOf(server), 'SIGKILL')
    await vi.waitFor(async () => {
      const now = await instances()
      expect(now.size).toBe(PROCESSES)
      expect([...now].filter((instance) => !before.has(instance))).toHaveLength(1)
    }, 30_000)
    expect((await client.getTask({ task_id })).status).toBe('queued')
    expect(server.err()).toContain('a server process has died')
  }, 60_000)

  test('a stop lets every process finish', async () => {
    expect(await server.stop('SIGTERM')).toBe(0)
    expect(server.err().match(/"stopped"|stopped$/gm)).toHaveLength(PROCESSES)
  })
})

test('an embedded database has one process, and the error says so', async () => {
  const { code, err } = await runCommand(['serve', '--processes', '2', '--database', 'memory:'], {
    cwd: tmpdir(),
    env: { ASYNCGATE_AUTH_API_KEY: KEY },
  })
  expect(code).toBe(1)
  expect(err).toContain('2 processes can share PostgreSQL only')
  expect(err).not.toContain('    at ')
})

test('a server that cannot start says why once, and ends', async () => {
  const nowhere = 'postgres://nobody:nothing@127.0.0.1:1/none'
  const { code, err } = await runCommand(['serve', '--processes', '2', '--port', '0'], {
    cwd: tmpdir(),
    env: { ASYNCGATE_AUTH_API_KEY: KEY, ASYNCGATE_DATABASE_URL: nowhere },
  })
  expect(code).not.toBe(0)
  expect(err).toContain('127.0.0.1:1')
}, 60_000)

/** The process id of one of the servers behind the port. */
function memberOf(of: CliServer): number {
  const [child] = of.children()
  if (child === undefined) throw new Error('the leader has no processes')
  return child
}
