// Vitest's global set-up: one PostgreSQL for the whole test run. Tests get databases in it from database.ts.
import type { TestProject } from 'vitest/node'
import { createRoles } from './postgres-roles.ts'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

export default async function setup(project: TestProject) {
  const server = await startPostgres()
  await createRoles(server.url)
  project.provide('postgresUrl', server.url)
  return () => server.remove()
}
