// The roles of a PostgreSQL server: under one that row-level security does not bind nothing starts, and the refusal says
// how to mend that, in words that can be run as they are.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterEach, beforeEach, expect } from 'vitest'
import { ConfigError, configOf } from '../src/config.ts'
import { examineDatabase } from '../src/cli/doctor/database-checks.ts'
import { openGate, openStore } from '../src/gate.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { verifies } from './requirements.ts'

let database: TestDatabase
let admin: Client
const roles: string[] = []

beforeEach(async () => {
  database = await createDatabase()
  admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
})
afterEach(async () => {
  await admin.end()
  await database.drop()
  const server = new Client({ connectionString: database.adminUrl.replace(/[^/]*$/, 'postgres') })
  await server.connect()
  for (const role of roles.splice(0)) await server.query(`drop role ${role}`)
  await server.end()
})

interface Urls {
  readonly url: string
  readonly migrationUrl: string | null
}

const configWith = ({ url, migrationUrl }: Urls) =>
  configOf({ database: { url, migration_url: migrationUrl }, log: { level: 'silent' } })

async function start(urls: Urls): Promise<void> {
  const gate = await openGate(configWith(urls))
  await gate.stop()
}

async function refusal(urls: Urls): Promise<string> {
  const error: unknown = await start(urls).then(
    () => expect.fail('it started'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message
}

/** The statement that a refusal tells to run. */
const statementIn = (message: string) => /: ([a-z][^:]*;)/.exec(message)![1]!

async function createRole(options: string): Promise<string> {
  const role = `role_${randomBytes(6).toString('hex')}`
  await admin.query(`create role ${role} login password 'secret' ${options}`)
  roles.push(role)
  return role
}

function as(role: string, password = 'secret'): string {
  const url = new URL(database.url)
  url.username = role
  url.password = password
  return url.href
}

async function tables(): Promise<string[]> {
  const { rows } = await admin.query<{ relname: string }>(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  )
  return rows.map(({ relname }) => relname)
}

verifies(
  'TEN-1',
  'a superuser is refused before it owns anything; the words of the refusal mend it',
  async () => {
    const before = { url: database.adminUrl, migrationUrl: null }
    const message = await refusal(before)
    expect(message).toContain('The role postgres is a superuser')
    expect(await tables()).toEqual([])
    roles.push('asyncgate')
    await admin.query(statementIn(message))
    expect(message).toContain('set database.url to postgres://asyncgate:<a password>@')
    await start({ url: as('asyncgate', '<a password>'), migrationUrl: database.adminUrl })
    expect(await tables()).toContain('ledger_segments')
  },
)

verifies('TEN-1', 'a role that may bypass row-level security is refused, until it may not', async () => {
  const url = as(await createRole('bypassrls'))
  const message = await refusal({ ...database, url })
  expect(message).toContain('has BYPASSRLS')
  await admin.query(statementIn(message))
  await start({ ...database, url })
})

verifies('TEN-1', 'a role that can become one that no policy binds is refused, until it cannot', async () => {
  const url = as(await createRole(`in role ${await createRole('bypassrls')}`))
  const message = await refusal({ ...database, url })
  expect(message).toContain('can become')
  await admin.query(statementIn(message))
  await start({ ...database, url })
})

verifies('TEN-1', 'a table that has lost its wall is refused, until it has it again', async () => {
  await start(database)
  for (const statement of [
    'alter table tasks disable row level security',
    'alter table ledger_segments no force row level security',
    'create policy "the boss" on leased using (true)',
  ]) {
    await admin.query(statement)
    await admin.query(statementIn(await refusal(database)))
    await start(database)
  }
})

verifies(
  'TEN-1',
  'one role that owns its database, as createuser and createdb make it, suffices',
  async () => {
    await start({ url: database.migrationUrl, migrationUrl: null })
  },
)

verifies(
  'TEN-1',
  'a role that takes the place of another is granted what it needs at the next start',
  async () => {
    await start(database)
    const url = as(await createRole(''))
    await start({ ...database, url })
    const store = await openStore(configWith({ ...database, url }))
    expect(await store.stats(0)).toMatchObject({ ready: 0 })
    await store.close()
  },
)

verifies(
  'TEN-1',
  'a role that owns nothing serves a schema that is current, and is told who must migrate another',
  async () => {
    const alone = { url: database.url, migrationUrl: null }
    const message = await refusal(alone)
    expect(message).toContain('The role gate_server may not bring the schema to this version')
    expect(message).toMatch(/"alter database test_\w+ owner to gate_server;"/)
    expect(message).toContain('database.migration_url')
    await start(database)
    await start(alone)
    const stranger = { url: as(await createRole('')), migrationUrl: null }
    expect(await refusal(stranger)).toContain('permission denied for table schema_migrations')
  },
)

verifies('TEN-1', 'the doctor finds what is open between tenants, and its remedy', async () => {
  await start(database)
  const examine = async () => {
    const examination = {
      cwd: '.',
      now: () => 0,
      openStore: (config: Parameters<typeof openStore>[0]) => openStore(config),
    }
    return (await examineDatabase(configWith(database), examination)).tenants
  }
  expect(await examine()).toMatchObject({ status: 'ok' })
  await admin.query('alter table tasks disable row level security')
  expect(await examine()).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('the table tasks'),
    fix: expect.stringContaining('alter table tasks enable row level security, force row level security;'),
  })
})
