// Vitest's global set-up: one PostgreSQL for the whole test run. Tests get databases in it from database.ts.
import type { TestProject } from 'vitest/node'
import { createPostgresStore } from '../src/store/postgres/index.ts'
import { createOwnedDatabase, createRoles, MIGRATED } from './postgres-roles.ts'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

export default async function setup(project: TestProject) {
  const server = await startPostgres()
  await createRoles(server.url)
  const roles = await createOwnedDatabase(server.url, MIGRATED)
  const store = await createPostgresStore({ ...roles, poolSize: 1, preparedStatements: false })
  await store.migrate()
  await store.close()
  project.provide('postgresUrl', server.url)
  return () => server.remove()
}
