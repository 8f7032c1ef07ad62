// The PostgreSQL that the other tests stand on: it is real, it can be stopped and crashed, and it leaves nothing.
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createDatabase } from './database.ts'
import { startPostgres } from './postgres-server.ts'

async function query(url: string, statement: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

test('each test database is empty and apart from the others', async () => {
  const [one, two] = await Promise.all([createDatabase(), createDatabase()])
  await query(one.adminUrl, 'create table note (id int)')
  expect(await query(two.url, "select to_regclass('note') as found")).toEqual([{ found: null }])
  await Promise.all([one.drop(), two.drop()])
  await expect(query(one.url, 'select 1')).rejects.toMatchObject({ code: '3D000' })
})

test('a dropped database cuts off whoever is still connected', async () => {
  const database = await createDatabase()
  const client = new Client({ connectionString: database.url })
  const cutOff = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  await database.drop()
  expect(await cutOff).toMatchObject({ code: '57P01' })
})

test('the shared server takes 200 connections and does not wait for the disk', async () => {
  const database = await createDatabase()
  const names = "('max_connections', 'fsync', 'synchronous_commit')"
  const rows = await query(
    database.url,
    `select name, setting from pg_settings where name in ${names} order by 1`,
  )
  expect(rows).toEqual([
    { name: 'fsync', setting: 'off' },
    { name: 'max_connections', setting: '200' },
    { name: 'synchronous_commit', setting: 'on' },
  ])
  await database.drop()
})

test('a server of its own keeps its data over a stop and over a crash, on the same port', async () => {
  const server = await startPostgres({ fsync: true, settings: { max_connections: '20' } })
  try {
    await query(server.url, 'create table note (id int)')
    await server.stop()
    await expect(query(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.restart()
    await query(server.url, 'insert into note values (1)')
    await server.restart('immediate')
    expect(await query(server.url, 'select id from note')).toEqual([{ id: 1 }])
    expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    expect(await query(server.url, 'show max_connections')).toEqual([{ max_connections: '20' }])
  } finally {
    await server.remove()
  }
  await expect(query(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
