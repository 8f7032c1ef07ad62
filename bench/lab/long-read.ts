// A reader that stays: a report, a dump, a forgotten session.
import type { Database } from './postgres.ts'

/** Its snapshot is of now, until the function that it gives is called. */
export async function startReading(database: Database): Promise<() => Promise<void>> {
  const reader = await database.connect()
  await reader.query('begin isolation level repeatable read read only')
  await reader.query('select count(*) from pg_class')
  return async () => {
    await reader.query('commit')
    reader.release()
  }
}
