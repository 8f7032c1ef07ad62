// One PostgreSQL for the whole run, with the durability that production has, and a fresh database for each measurement.
import { randomBytes } from 'node:crypto'
import { Pool, type PoolClient } from 'pg'
import { startPostgres } from '../../packages/server/test/postgres-server.ts'
import type { Lab } from './lab.ts'
import { findProcess } from './process-figures.ts'
import { CREATE_STATISTICS, STATEMENT_SETTINGS } from './statements.ts'

/** As the targets were measured; everything else is PostgreSQL's own default. */
export const DURABLE_SETTINGS = { synchronous_commit: 'on', shared_buffers: '512MB' } as const

export interface Database {
  readonly url: string
  query(text: string): Promise<Record<string, unknown>[]>
  /** A session of its own, until it is released. */
  connect(): Promise<PoolClient>
  drop(): Promise<void>
}

export interface PostgresGround {
  readonly version: string
  /** The server's own process; each connection has one below it. */
  readonly pid: number
  createDatabase(): Promise<Database>
  stop(): Promise<void>
}

export interface GroundOptions {
  readonly fsync?: boolean
  readonly settings?: Readonly<Record<string, string>>
  /** Keep statistics of every statement. They cost a little: not for figures. */
  readonly statistics?: boolean
}

export async function startPostgresGround(
  lab: Lab,
  { fsync = true, settings = {}, statistics = false }: GroundOptions = {},
): Promise<PostgresGround> {
  lab.progress('starting PostgreSQL')
  const counted = statistics ? STATEMENT_SETTINGS : {}
  const server = await startPostgres({ fsync, settings: { ...DURABLE_SETTINGS, ...counted, ...settings } })
  const stop = lab.onClose(() => server.remove())
  const password = randomBytes(12).toString('hex')
  const admin = new Pool({ connectionString: server.url, max: 2 })
  // Connections of a server that is being stopped may break; nobody needs them any more.
  admin.on('error', () => {})
  const closeAdmin = lab.onClose(() => admin.end())
  // A role like an application's own: no superuser, so that row-level security holds for it.
  await admin.query(`create role bench login password '${password}'`)
  const { rows } = await admin.query<{ server_version: string }>('show server_version')
  lab.progress('warming PostgreSQL up')
  await useOnce(admin)

  async function createDatabase(): Promise<Database> {
    const name = `bench_${randomBytes(6).toString('hex')}`
    await admin.query(`create database ${name} owner bench`)
    // What the last measurement left to be written must not be written during the next one.
    await admin.query('checkpoint')
    const url = new URL(server.url)
    url.pathname = `/${name}`
    const inspector = new Pool({ connectionString: url.href, max: 2 })
    inspector.on('error', () => {})
    if (statistics) await inspector.query(CREATE_STATISTICS)
    url.username = 'bench'
    url.password = password
    const drop = lab.onClose(async () => {
      await inspector.end()
      await admin.query(`drop database if exists ${name} with (force)`)
    })
    return {
      url: url.href,
      query: async (text) => (await inspector.query(text)).rows,
      connect: () => inspector.connect(),
      drop,
    }
  }

  return {
    version: rows[0]?.server_version ?? 'unknown',
    pid: findProcess(`-p ${server.port}`) ?? 0,
    createDatabase,
    stop: async () => {
      await closeAdmin()
      await stop()
    },
  }
}

/**
 * The kernel clears each page of shared memory when it is first used, and the files of the log are made before they are used
 * again. A server that has run for long is past that; on a fresh one, whoever is measured first would pay for it.
 */
async function useOnce(admin: Pool): Promise<void> {
  // A row of it fills a page. Other than `create table as`, an insertion takes buffers as everybody does.
  await admin.query('create table filler (content text storage plain)')
  await admin.query(`insert into filler select repeat('x', 8000) from generate_series(1,
    (select setting::int + setting::int / 10 from pg_settings where name = 'shared_buffers'))`)
  await admin.query('drop table filler')
  await admin.query('checkpoint')
}
