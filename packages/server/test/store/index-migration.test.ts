// The migration of indexes beside servers that go on: what there is is found afterwards, and nobody waits crosswise.
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { unmistakableIndexes } from '../../src/store/postgres/migrations/0015-unmistakable-indexes.ts'
import { createMigratedDatabase } from '../database.ts'
import { AGENT, createRig } from './rig.ts'

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  await client.connect()
  return client
}

test('while a commit is at its dependencies and has its ledger before it', async () => {
  const database = await createMigratedDatabase()
  const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  const owner = await connect(database.migrationUrl)
  // It makes anew what it has made.
  await owner.query('delete from schema_migrations where name = $1', [unmistakableIndexes.name])
  const rig = createRig(store)
  const { tenantId } = rig
  const awaited = await rig.create({})
  const dependent = await rig.create({ dependsOn: [awaited.taskId] })

  const writer = await connect(database.url)
  await writer.query('begin; lock table dependencies in row exclusive mode')
  const migrated = store.migrate()
  await vi.waitFor(async () => {
    const waiting = "select 1 from pg_locks where not granted and relation = 'dependencies'::regclass"
    expect((await owner.query(waiting)).rowCount).toBe(1)
  })
  await writer.query('lock table obligations in row exclusive mode; commit')

  expect(await migrated).toEqual([unmistakableIndexes.name])
  expect(await store.dependentsOf(tenantId, [awaited.taskId])).toMatchObject([{ taskId: dependent.taskId }])
  expect(await store.openObligations({ tenantId, principal: AGENT, after: null, limit: 10 })).toHaveLength(2)
  await Promise.all([writer.end(), owner.end(), store.close()])
  await database.drop()
})
