// Fresh PostgreSQL databases for tests, in the server that postgres.ts started.
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { administer, createOwnedDatabase, MIGRATED, type RoleUrls } from './postgres-roles.ts'

export interface TestDatabase extends RoleUrls {
  drop(): Promise<void>
}

/** An empty database. Drop it in `afterAll` or `afterEach`; whoever is still connected is cut off. */
export function createDatabase(): Promise<TestDatabase> {
  return create()
}

/** One with the schema in it, which migrating would take several times as long to bring. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return create(MIGRATED)
}

async function create(copied?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = inject('postgresUrl')
  const urls = await createOwnedDatabase(server, name, copied)
  return { ...urls, drop: () => administer(server, `drop database if exists ${name} with (force)`) }
}
