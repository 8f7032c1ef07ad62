// The two roles that tests use a PostgreSQL under, as an operator would: one owns the schema and migrates it, the other
// serves. Neither can bypass row-level security. Only what no server does is done as the superuser.
import { Client } from 'pg'

const OWNER = 'gate_owner'
const SERVER = 'gate_server'
/** The database that others are copied from: see postgres.ts. */
export const MIGRATED = 'migrated'
const PASSWORD = 'secret'

export interface RoleUrls {
  /** As the role that serves. */
  readonly url: string
  readonly migrationUrl: string
  /** As the superuser, whom no policy binds. */
  readonly adminUrl: string
}

/** Once for each server. */
export async function createRoles(adminUrl: string): Promise<void> {
  for (const role of [OWNER, SERVER])
    await administer(adminUrl, `create role ${role} login password '${PASSWORD}'`)
}

/** Empty, unless it is a copy of another one, to which nobody may be connected. */
export async function createOwnedDatabase(
  serverUrl: string,
  name: string,
  copied?: string,
): Promise<RoleUrls> {
  const template = copied === undefined ? '' : ` template ${copied}`
  await administer(serverUrl, `create database ${name} owner ${OWNER}${template}`)
  const admin = new URL(serverUrl)
  admin.pathname = `/${name}`
  const as = (role: string) => {
    const url = new URL(admin)
    url.username = role
    url.password = PASSWORD
    return url.href
  }
  return { url: as(SERVER), migrationUrl: as(OWNER), adminUrl: admin.href }
}

export async function administer(adminUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
