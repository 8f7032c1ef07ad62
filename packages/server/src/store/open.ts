// From a database URL to a store. The drivers are loaded only when they are needed.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../log.ts'
import { createMemoryStore } from './memory/index.ts'
import type { Breach, Store } from './port.ts'
import { toCaller } from './sql/failure.ts'

export async function openStore({ database }: Pick<Config, 'database'>, log?: Log): Promise<Store> {
  const { url, migrationUrl, poolSize, preparedStatements } = database
  const logging = log === undefined ? {} : { log }
  if (url === 'memory:') return createMemoryStore()
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length)
    requireFolder(path)
    const { createSqliteStore } = await import('./sqlite/index.ts')
    return createSqliteStore({ path, ...logging }).catch((error: unknown) => {
      throw toCaller(error)
    })
  }
  const { createPostgresStore } = await import('./postgres/index.ts')
  return createPostgresStore({ url, migrationUrl, poolSize, preparedStatements, ...logging })
}

/**
 * Brings the store to the schema of this version. The role is looked at first: who migrates as a superuser by mistake
 * would leave it all the tables. Afterwards nothing may be open between tenants.
 */
export async function migrateStore(store: Store): Promise<readonly string[]> {
  refuse((await store.findBreaches()).filter((breach) => breach.of === 'role'))
  const applied = await store.migrate()
  refuse(await store.findBreaches())
  return applied
}

function refuse(breaches: readonly Breach[]): void {
  if (breaches.length === 0) return
  throw new ConfigError(
    breaches.map(({ problem, remedy }) => ({ where: 'database.url', message: `${problem} ${remedy}` })),
  )
}

/** SQLite would only say that it cannot open the file. */
function requireFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (existsSync(folder)) return
  const message = `The folder ${folder} does not exist. Create it, or give another path.`
  throw new ConfigError([{ where: 'database.url', message }])
}
