// The three stores, opened for a test: the same test runs on each, without skips.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from '../src/store/memory/index.ts'
import type { Store } from '../src/store/port.ts'
import type { PostgresOptions } from '../src/store/postgres/index.ts'
import { createMigratedDatabase } from './database.ts'

export const STORE_KINDS = ['memory', 'sqlite', 'postgres'] as const
export type StoreKind = (typeof STORE_KINDS)[number]

export interface OpenedStore {
  readonly store: Store
  /**
   * The store of a second instance of the server. On PostgreSQL another one, with connections of its own; within one process
   * SQLite has one writer, and the memory store is the memory, so there the instances share it.
   */
  beside(): Promise<Store>
  /** Closes the store and removes what it kept. */
  dispose(): Promise<void>
}

export async function openTestStore(kind: StoreKind): Promise<OpenedStore> {
  const opened = await open(kind)
  await opened.store.migrate()
  return opened
}

async function open(kind: StoreKind): Promise<OpenedStore> {
  if (kind === 'memory') {
    const store = createMemoryStore()
    return { store, beside: async () => store, dispose: async () => {} }
  }
  if (kind === 'sqlite') {
    const { createSqliteStore } = await import('../src/store/sqlite/index.ts')
    const folder = await mkdtemp(join(tmpdir(), 'asyncgate-test-'))
    // So that commits are written both ways.
    const store = await createSqliteStore({ path: join(folder, 'gate.db'), largeFrom: 3 })
    return {
      store,
      beside: async () => store,
      dispose: async () => {
        await store.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  }
  const { createPostgresStore } = await import('../src/store/postgres/index.ts')
  return openOnPostgres(createPostgresStore)
}

/** PostgreSQL with statements that have forgotten the tenant. */
export async function openUnfilteredStore(): Promise<OpenedStore> {
  const { createUnfilteredStore } = await import('./unfiltered.ts')
  const opened = await openOnPostgres(async (options) => createUnfilteredStore(options))
  await opened.store.migrate()
  return opened
}

async function openOnPostgres(create: (options: PostgresOptions) => Promise<Store>): Promise<OpenedStore> {
  const database = await createMigratedDatabase()
  const connect = () => create({ ...database, poolSize: 4, preparedStatements: true })
  const stores = [await connect()]
  return {
    store: stores[0]!,
    beside: async () => {
      const store = await connect()
      stores.push(store)
      return store
    },
    dispose: async () => {
      for (const store of stores) await store.close()
      await database.drop()
    },
  }
}
