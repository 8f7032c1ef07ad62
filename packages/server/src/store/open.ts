// From a database URL to a store. The drivers are loaded only when they are needed.
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { createMemoryStore } from './memory/index.ts'
import type { Store } from './port.ts'

export async function openStore({ database }: Pick<Config, 'database'>, log?: Log): Promise<Store> {
  const { url, poolSize, preparedStatements } = database
  const logging = log === undefined ? {} : { log }
  if (url === 'memory:') return createMemoryStore()
  if (url.startsWith('sqlite:')) {
    const { createSqliteStore } = await import('./sqlite/index.ts')
    return createSqliteStore({ path: url.slice('sqlite:'.length), ...logging })
  }
  const { createPostgresStore } = await import('./postgres/index.ts')
  return createPostgresStore({ url, poolSize, preparedStatements, ...logging })
}
