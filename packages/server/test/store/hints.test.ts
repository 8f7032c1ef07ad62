// Hints between instances on one PostgreSQL: who is told, and that somebody who is alone tells nobody.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Hint, Store } from '../../src/store/port.ts'
import { createHints, type Hints } from '../../src/store/postgres/hints.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { connectionConfig } from '../../src/store/postgres/pool.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

const READY = { tenantId: 'the tenant', ready: true, delayed: false, ended: false }
const MESSAGE = '1 0 0 the tenant'
/** Far longer than it takes a newcomer to know that it is alone. */
const PATIENCE = { timeout: 20_000, interval: 20 }
/** Two go together only if they follow each other within 5 ms. */
const APART_MS = 20
const UNHEARD_IN_A_ROW = 20

let database: TestDatabase
let ear: Client
let heard: string[]
let stores: { close(): Promise<void> }[]

beforeEach(async () => {
  database = await createDatabase()
  stores = []
  heard = []
  // Says nothing of its own accord, so that an instance beside it is alone.
  ear = new Client({ connectionString: database.url })
  await ear.connect()
  ear.on('notification', ({ payload = '' }) => heard.push(payload))
  await ear.query('listen asyncgate')
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await ear.end()
  await database.drop()
})

async function startInstance(url = database.url) {
  const store = await createPostgresStore({ url, poolSize: 2, preparedStatements: true })
  stores.push(store)
  const hints: Hint[] = []
  store.onHint((hint) => hints.push(hint))
  return { store, hints }
}

/** Where something is announced, which stores do with what they commit. */
function startHints(url = database.url): { hints: Hints; heard: Hint[] } {
  const config = connectionConfig({ url, poolSize: 1, preparedStatements: true })
  const hints = createHints({ config, log: undefined })
  stores.push(hints)
  const of: Hint[] = []
  hints.listen((hint) => of.push(hint))
  return { hints, heard: of }
}

const hellos = () => heard.filter((message) => message === 'hello')
const announcements = () => heard.filter((message) => message.startsWith('soon '))

const until = (look: () => void) => vi.waitFor(look, PATIENCE)
const say = (message: string) => ear.query('select pg_notify($1, $2)', ['asyncgate', message])

/** Tells again and again, until nobody is told any more. */
async function untilSilent(store: Store): Promise<void> {
  let unheard = 0
  const telling = setInterval(() => {
    unheard = heard.includes(MESSAGE) ? 0 : unheard + 1
    heard.length = 0
    store.hint(READY)
  }, APART_MS)
  try {
    await until(() => expect(unheard).toBeGreaterThan(UNHEARD_IN_A_ROW))
  } finally {
    clearInterval(telling)
  }
}

/** Between us and the server, and giving a number of its own for the server's process, as poolers do. */
async function startPooler(): Promise<Server> {
  const { hostname, port } = new URL(database.url)
  const pooler = createServer((client) => {
    const server = connect(Number(port), hostname)
    client.pipe(server)
    // Bytes, since no encoding is set.
    server.on('data', (bytes) => client.write(renumbered(bytes as Buffer)))
    server.on('end', () => client.end())
    for (const socket of [client, server]) socket.on('error', () => [client, server].map((s) => s.destroy()))
  })
  pooler.listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  return pooler
}

function throughPooler(pooler: Server): string {
  const url = new URL(database.url)
  url.hostname = '127.0.0.1'
  url.port = String((pooler.address() as AddressInfo).port)
  return url.href
}

/** BackendKeyData: a letter, its length, the process, a secret. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12])

function renumbered(bytes: Buffer): Buffer {
  const at = bytes.indexOf(KEY_DATA)
  if (at >= 0) bytes.writeInt32BE(1_234_567, at + KEY_DATA.length)
  return bytes
}

test('an instance that is alone tells nobody, and whoever says hello is answered and told', async () => {
  const { store } = await startInstance()
  await untilSilent(store)
  await say('hello')
  await until(() => expect(heard).toContain('here'))
  expect(heard).not.toContain(MESSAGE)
  store.hint(READY)
  await until(() => expect(heard).toContain(MESSAGE))
})

test('many newcomers at once are answered, and told', async () => {
  const { store } = await startInstance()
  await until(() => expect(heard).toContain('hello'))
  // Each in a transaction of its own, since the database drops what a transaction says twice.
  await ear.query("begin; select pg_notify('asyncgate', 'hello'); commit;".repeat(8))
  await until(() => expect(heard.filter((message) => message === 'here')).toHaveLength(8))
  heard.length = 0
  const telling = setInterval(() => store.hint(READY), APART_MS)
  await until(() => expect(heard.filter((message) => message === MESSAGE).length).toBeGreaterThan(10))
  clearInterval(telling)
})

test('an instance that was alone tells one that comes later, and hears it', async () => {
  const first = await startInstance()
  await untilSilent(first.store)
  const second = await startInstance()
  await until(() => expect(heard).toContain('here'))
  first.store.hint(READY)
  await until(() => expect(second.hints).toEqual([READY]))
  second.store.hint({ ...READY, ready: false, ended: true })
  await until(() => expect(first.hints).toEqual([{ ...READY, ready: false, ended: true }]))
})

test('an instance whose connection was cut says hello again, and is told as before', async () => {
  const [one, other] = [await startInstance(), await startInstance()]
  await until(() => expect(hellos()).toHaveLength(2))
  heard.length = 0
  const admin = new Client({ connectionString: database.adminUrl })
  await admin.connect()
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_notify%' and application_name = 'asyncgate' and datname = current_database()",
  )
  await admin.end()
  await until(() => expect(hellos()).toHaveLength(2))
  one.store.hint(READY)
  await until(() => expect(other.hints).toEqual([READY]))
})

test('what is announced is heard with its number', async () => {
  const [one, other] = [startHints(), startHints()]
  await until(() => expect(hellos()).toHaveLength(2))
  const number = one.hints.announce(READY.tenantId)
  await until(() => expect(other.heard).toEqual([READY]))
  await until(() => expect(announcements()).toEqual([expect.stringMatching(` ${number} ${READY.tenantId}$`)]))
  expect(one.hints.takeAnnounced(READY.tenantId)).toBeNull()
  expect(other.hints.takeAnnounced('another')).toBeNull()
  expect(other.hints.takeAnnounced(READY.tenantId)).toBe(number)
  expect(other.hints.takeAnnounced(READY.tenantId)).toBeNull()
})

test('what has just been announced is told as well, a little later', async () => {
  const [one, other] = [startHints(), startHints()]
  await until(() => expect(hellos()).toHaveLength(2))
  one.hints.announce(READY.tenantId)
  one.hints.send(READY)
  await until(() => expect(other.heard).toEqual([READY, READY]))
})

test('where a hint or an announcement has just gone, nothing is announced', async () => {
  const [one, two] = [startHints(), startHints()]
  await until(() => expect(hellos()).toHaveLength(2))
  one.hints.send(READY)
  expect(one.hints.announce(READY.tenantId)).toBeNull()
  await until(() => expect(one.hints.announce(READY.tenantId)).not.toBeNull())
  const numbers = Array.from({ length: 1_000 }, () => two.hints.announce(READY.tenantId))
  expect(numbers[0]).not.toBeNull()
  expect(numbers).toContain(null)
  await until(() => expect(two.hints.announce(READY.tenantId)).not.toBeNull())
})

test('an instance that is alone announces nothing', async () => {
  const { hints } = startHints()
  expect(hints.announce(READY.tenantId)).not.toBeNull()
  await until(() => expect(hints.isAlone()).toBe(true))
  expect(hints.announce(READY.tenantId)).toBeNull()
})

test('of several announcements the last one of each tenant stands, until its hint is heard', async () => {
  const [one, two, other] = [startHints(), startHints(), startHints()]
  await until(() => expect(hellos()).toHaveLength(3))
  one.hints.announce(READY.tenantId)
  await until(() => expect(other.heard).toHaveLength(1))
  const number = two.hints.announce(READY.tenantId)
  await until(() => expect(other.heard).toHaveLength(2))
  await until(() => expect(one.hints.announce('another')).not.toBeNull())
  await until(() => expect(other.heard).toHaveLength(3))
  expect(other.hints.takeAnnounced(READY.tenantId)).toBe(number)
  one.hints.send({ ...READY, tenantId: 'another' })
  await until(() => expect(other.heard).toHaveLength(4))
  expect(other.hints.takeAnnounced('another')).toBeNull()
})

test('who closes has said what waited', async () => {
  const [one, other] = [startHints(), startHints()]
  await until(() => expect(hellos()).toHaveLength(2))
  one.hints.announce(READY.tenantId)
  one.hints.send(READY)
  await one.hints.close()
  await until(() => expect(other.heard).toEqual([READY]))
})

test('behind a pooler nobody waits for what they announced themselves', async () => {
  const pooler = await startPooler()
  const one = startHints(throughPooler(pooler))
  await until(() => expect(heard).toContain('here'))
  one.hints.announce(READY.tenantId)
  await until(() => expect(one.hints.announce(READY.tenantId)).not.toBeNull())
  await until(() => expect(announcements()).toHaveLength(2))
  one.hints.send({ ...READY, ended: true })
  await until(() => expect(one.heard).toEqual([{ ...READY, ended: true }]))
  expect(one.hints.takeAnnounced(READY.tenantId)).toBeNull()
  await one.hints.close()
  pooler.close()
})

test('behind a pooler nobody believes to be alone: what one says oneself seems to be said by another', async () => {
  const pooler = await startPooler()
  const { store, hints } = await startInstance(throughPooler(pooler))
  await until(() => expect(heard).toContain('here'))
  store.hint(READY)
  await until(() => expect(hints).toEqual([READY]))
  await store.close()
  pooler.close()
})
