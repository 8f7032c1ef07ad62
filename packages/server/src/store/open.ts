// From a database URL to a store. The drivers are loaded only when they are needed.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../log.ts'
import { createMemoryStore } from './memory/index.ts'
import type { Store } from './port.ts'
import { toCaller } from './sql/failure.ts'

export async function openStore({ database }: Pick<Config, 'database'>, log?: Log): Promise<Store> {
  const { url, poolSize, preparedStatements } = database
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
  return createPostgresStore({ url, poolSize, preparedStatements, ...logging })
}

/** SQLite would only say that it cannot open the file. */
function requireFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (existsSync(folder)) return
  const message = `The folder ${folder} does not exist. Create it, or give another path.`
  throw new ConfigError([{ where: 'database.url', message }])
}
