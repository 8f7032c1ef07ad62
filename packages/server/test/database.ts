// Fresh PostgreSQL databases for tests, in the server that postgres.ts started.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** An empty database. Drop it in `afterAll` or `afterEach`; whoever is still connected is cut off. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(`create database ${name}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) }
}

async function administer(statement: string) {
  const client = new Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
