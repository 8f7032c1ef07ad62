// An SQLite store with a second connection to its file, past the store: for what only somebody else could have written.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'

/** Until the end of the test. */
export async function openBehindSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-behind-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  await store.migrate()
  const raw = new DatabaseSync(path)
  onTestFinished(async () => {
    raw.close()
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, raw }
}
