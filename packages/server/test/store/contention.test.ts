// Several instances on one PostgreSQL, all at random work on the same few tasks: no deadlock, and afterwards
// every table says the same of every task.
import { Client } from 'pg'
import { expect, test } from 'vitest'
import type { Claimed } from '../../src/engine/decide/index.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createDatabase } from '../database.ts'
import { verifies } from '../requirements.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { anyCommand, type Known, learn } from './random-commands.ts'
import { claimCommand, createRig } from './rig.ts'

const INSTANCES = 3
const LOOPS = 4
const UNITS = 40

/** What would be wrong with a task, and how many tasks it is wrong of. */
const CHECKS: Record<string, string> = {
  'on no shelf, or on several': `
    select count(*) from tasks t
    where 1 <> (
      select count(*) from (
        select tenant_id, task_id from queued
        union all select tenant_id, task_id from leased
        union all select tenant_id, task_id from ended
      ) as s
      where s.tenant_id = t.tenant_id and s.task_id = t.task_id)`,
  'queued without a place':
    "select count(*) from queued where place not in ('ready', 'delayed', 'parked', 'waiting')",
  'a fence that is not the number of its leases': `
    select count(*) from (
      select tenant_id, task_id, fence from queued
      union all select tenant_id, task_id, fence from leased
      union all select tenant_id, task_id, fence from ended
    ) as s
    ${counted('task.accepted', 's')}
    where s.fence <> coalesce(r.total, 0)`,
  'ended without exactly one task.result_ready, or the reverse': `
    select count(*) from tasks t
    left join ended e on e.tenant_id = t.tenant_id and e.task_id = t.task_id
    ${counted('task.result_ready', 't')}
    where (e.task_id is not null)::int <> coalesce(r.total, 0)`,
  'a gap in the ledger': `
    select count(*) from (
      select tenant_id, max(last_position) as length from ledger_segments group by tenant_id
    ) as l
    where l.length <> (select count(*) from receipts r where r.tenant_id = l.tenant_id)`,
  'a ledger that counts other tasks than there are': `
    select count(*) from (
      select distinct on (tenant_id) tenant_id, active_tasks from ledger_segments order by tenant_id, first_position desc
    ) as l
    where l.active_tasks <> (select count(*) from queued q where q.tenant_id = l.tenant_id)
      + (select count(*) from leased h where h.tenant_id = l.tenant_id)`,
  'parked under a key that has room and nothing ready': `
    select count(*) from queued p
    where p.place = 'parked' and p.concurrency_limit > (
      select count(*) from leased l where l.tenant_id = p.tenant_id and l.concurrency_key = p.concurrency_key)
    and not exists (
      select 1 from queued r
      where r.place = 'ready' and r.tenant_id = p.tenant_id and r.lane = p.lane and r.type = p.type
        and r.concurrency_key = p.concurrency_key)`,
}

/** How many receipts of a type each task has, as `r`: taken out of the ledger once. */
function counted(receiptType: string, task: string): string {
  return `left join (
      select tenant_id, task_id, count(*) as total from receipts where receipt_type = '${receiptType}' group by tenant_id, task_id
    ) as r on r.tenant_id = ${task}.tenant_id and r.task_id = ${task}.task_id`
}

/** Tasks with keys are never decided by what is remembered of them. */
const WITHOUT_KEYS = { concurrencyKey: null, concurrencyLimit: null }

test.each([
  ['with concurrency keys', {}],
  ['without', WITHOUT_KEYS],
])(
  'random work of several instances leaves all tables in agreement, no deadlock: %s',
  async (_what, over) => {
    const database = await createDatabase()
    const stores = await Promise.all(
      Array.from({ length: INSTANCES }, () =>
        createPostgresStore({ ...database, poolSize: LOOPS, preparedStatements: true }),
      ),
    )
    await stores[0]!.migrate()
    const rig = createRig(stores[0]!)
    const known: Known = { taskIds: [], receiptIds: [], grants: [] }
    const work = async (loop: number) => {
      const chance = createSeededRandom(loop)
      for (let unit = 0; unit < UNITS; unit++) {
        rig.pass(chance.below(2_000))
        const commands = Array.from({ length: 1 + chance.below(10) }, () => {
          const command = anyCommand({ now: rig.now(), chance, known })
          return command.kind === 'create' ? { ...command, task: { ...command.task, ...over } } : command
        })
        learn(known, commands, await rig.run(commands, stores[loop % INSTANCES]))
      }
    }
    await Promise.all(Array.from({ length: INSTANCES * LOOPS }, (_, loop) => work(loop)))
    expect(await stores[0]!.findDoubtfulObligations(10)).toEqual([])
    await Promise.all(stores.map((store) => store.close()))

    const client = new Client({ connectionString: database.adminUrl })
    await client.connect()
    for (const [what, sql] of Object.entries(CHECKS)) {
      const { rows } = await client.query<{ count: string }>(sql)
      expect(Number(rows[0]?.count), what).toBe(0)
    }
    const sql = 'select deadlocks::int from pg_stat_database where datname = current_database()'
    expect((await client.query(sql)).rows).toEqual([{ deadlocks: 0 }])
    await client.end()
    await database.drop()
  },
  60_000,
)

verifies(
  'LEASE-2',
  'what other transactions hold hides nothing of what is free, whatever its type',
  async () => {
    const database = await createDatabase()
    const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
    await store.migrate()
    const rig = createRig(store)
    const held: string[] = []
    for (let at = 0; at < 12; at++) {
      held.push((await rig.create({ type: at % 2 === 0 ? 'even' : 'odd', priority: 5 })).taskId)
    }
    for (const summary of ['first', 'second']) await rig.create({ type: 'odd', summary })
    await rig.create({ type: 'even', summary: 'third' })

    const other = new Client({ connectionString: database.adminUrl })
    await other.connect()
    await other.query('begin')
    await other.query('select 1 from queued where task_id = any ($1::uuid[]) for update', [held])
    expect(await rig.claimed({ types: ['even', 'odd'], max: 1 })).toEqual(['first'])
    expect(await rig.claimed({ types: ['even', 'odd'], max: 5 })).toEqual(['second', 'third'])
    await other.end()
    expect(await rig.claim({ types: ['even', 'odd'] })).toHaveLength(12)
    await store.close()
    await database.drop()
  },
)

verifies(
  'LEASE-2',
  'a task whose key another transaction counts just now is held, and not taken for none',
  async () => {
    const database = await createDatabase()
    const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
    await store.migrate()
    const rig = createRig(store)
    await rig.create({ concurrencyKey: 'k', concurrencyLimit: 2 })

    const other = new Client({ connectionString: database.adminUrl })
    await other.connect()
    await other.query('begin')
    await other.query("select pg_advisory_xact_lock(hashtextextended($1::text || ' key k', 0))", [
      rig.tenantId,
    ])
    const claim = () => rig.ask<Claimed>(claimCommand({ max: 5 }))
    expect(await claim()).toMatchObject({ grants: [], again: false, held: true })
    await other.end()
    expect(await claim()).toMatchObject({ grants: [{}], held: false })
    await store.close()
    await database.drop()
  },
)

test('a unit that has waited too long for a key is tried again, whatever was sent after it', async () => {
  const database = await createDatabase()
  const store = await createPostgresStore({ ...database, poolSize: 2, preparedStatements: true })
  await store.migrate()
  const rig = createRig(store)
  const other = new Client({ connectionString: database.adminUrl })
  await other.connect()
  await other.query('begin')
  await other.query("select pg_advisory_xact_lock(hashtextextended($1::text || ' key k', 0))", [rig.tenantId])
  const created = rig.create({ concurrencyKey: 'k', idempotencyKey: 'once' })
  // Longer than a connection waits for a lock.
  await Promise.all([other.query('select pg_sleep(4.5)').then(() => other.end()), created])
  expect((await created).isDuplicate).toBe(false)
  await store.close()
  await database.drop()
}, 20_000)
