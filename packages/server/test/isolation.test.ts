// Tenant B with every id of tenant A, on every route and every tool: the answer is that for an id that never was, word for
// word, and nothing of A has changed. What is tried is made from the contract, so that a new operation is tried as well.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Client,
  contract,
  createClient,
  jsonSchema,
  type Operation,
  type OperationKey,
} from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { CHEAP } from './api-key.ts'
import { type Answer, type Door, openDoor, PROTOCOLS } from './doors.ts'
import { LEAST } from './equivalence-history.ts'
import { verifies } from './requirements.ts'
import { openTestStore, openUnfilteredStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { filterless } from './unfiltered.ts'
import { stateText } from './whole-state.ts'

const SECRET = 'secret-of-a'
const NEVER = '0198c0de-dead-7000-8000-00000000beef'
const OPERATIONS = Object.keys(contract) as OperationKey[]
const OPERATOR = { ...SHARED_CALLER, role: 'operator' } as const

interface Schema {
  readonly format?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

interface IdField {
  readonly name: string
  readonly isList: boolean
}

/** The fields of an operation that take an id or a list of ids. */
function idFields(key: OperationKey): IdField[] {
  const { properties = {} } = jsonSchema(contract[key].input) as Schema
  return Object.entries(properties).flatMap(([name, { format, items }]): IdField[] => {
    if (format === 'uuid') return [{ name, isList: false }]
    return items?.format === 'uuid' ? [{ name, isList: true }] : []
  })
}

/** Where an operation's own ids stand in its path or must be given, not to find them is the whole answer. */
function mustBeFound(key: OperationKey, name: string): boolean {
  const { required = [] } = jsonSchema(contract[key].input) as { required?: string[] }
  return required.includes(name) && name !== 'lease_id'
}

function sortOf(name: string): keyof Scene['ids'] {
  if (name.includes('task') || name === 'depends_on') return 'task'
  if (name.includes('lease')) return 'lease'
  if (name.includes('account')) return 'account'
  if (name.includes('client')) return 'client'
  return name.includes('key') ? 'key' : 'receipt'
}

/** Every kind of thing that A has, in every state that matters. */
interface Scene {
  readonly ids: Readonly<
    Record<'task' | 'lease' | 'receipt' | 'key' | 'account' | 'client', readonly string[]>
  >
  readonly cursors: Readonly<Partial<Record<OperationKey, string>>>
  /** Of a result that is kept in a channel. */
  readonly pointer: string
}

async function setScene(a: Client): Promise<Scene> {
  const worker_id = 'w'
  const keys = [
    await a.createKey({ role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } }),
    await a.createKey({ role: 'agent', principal: { principal_kind: 'agent', principal_id: 'bob' } }),
  ]
  const people = ['ada', 'eve'].map((username) =>
    a.createAccount({
      username,
      role: 'agent',
      principal: { principal_kind: 'human', principal_id: username },
      subject: username,
    }),
  )
  const apps = ['Editor', 'Shell'].map((name) =>
    a.registerClient({ name, redirect_uris: ['https://example.org/back'] }),
  )
  const [accounts, clients] = [await Promise.all(people), await Promise.all(apps)]
  const make = (more: object = {}) => a.createTask({ type: 'secret', max_attempts: 1, ...more })
  const made = [await make(), await make(), await make(), await make(), await make({ type: 'held' })]
  const claim = async (type: string, max_tasks: number) =>
    (await a.leaseNext({ worker_id, accept_types: [type], max_tasks })).tasks
  const [failed, done] = await claim('secret', 2)
  const [held] = await claim('held', 1)
  await a.fail({
    worker_id,
    task_id: failed!.task_id,
    lease_id: failed!.lease_id,
    error: { code: 'x', message: 'x' },
  })
  const doing = { worker_id, task_id: done!.task_id, lease_id: done!.lease_id }
  const put = await a.putTaskResult({ ...doing, content: SECRET, channel: 'blob' })
  await a.complete({ ...doing, result: 1, artifacts: [put] })
  await a.archiveTaskResult({ task_id: done!.task_id, pointer: put.pointer, channel: 'file' })
  await a.putTaskType({ task_type: SECRET, description: SECRET })
  await a.cancelTask({ task_id: made[3]!.task_id })
  await a.reportProgress({
    worker_id,
    task_id: held!.task_id,
    lease_id: held!.lease_id,
    progress: { percent: 1 },
  })
  const { receipts } = await a.listReceipts({ limit: 200 })
  const [tasksPage, receiptsPage, keysPage, accountsPage, clientsPage] = [
    await a.listTasks({ limit: 1 }),
    await a.listReceipts({ limit: 1 }),
    await a.listKeys({ limit: 1 }),
    await a.listAccounts({ limit: 1 }),
    await a.listClients({ limit: 1 }),
  ]
  return {
    ids: {
      task: made.map(({ task_id }) => task_id),
      lease: [failed!, done!, held!].map(({ lease_id }) => lease_id),
      receipt: receipts.map(({ receipt_id }) => receipt_id),
      key: keys.map(({ key_id }) => key_id),
      account: accounts.map(({ account_id }) => account_id),
      client: clients.map(({ client_id }) => client_id),
    },
    cursors: {
      listTasks: tasksPage.next_cursor!,
      listReceipts: receiptsPage.next_cursor!,
      listKeys: keysPage.next_cursor!,
      listAccounts: accountsPage.next_cursor!,
      listClients: clientsPage.next_cursor!,
    },
    pointer: put.pointer,
  }
}

/** On PostgreSQL also without the program's own filter: row-level security alone holds. */
const GROUNDS = [...STORE_KINDS, 'row-level security alone'] as const

describe.each(GROUNDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let scene: Scene
  let keyOfA: string
  let keyOfB: string
  let folder: string
  const doors = new Map<string, Door>()

  beforeAll(async () => {
    opened = await (kind === 'row-level security alone' ? openUnfilteredStore() : openTestStore(kind))
    folder = await mkdtemp(join(tmpdir(), 'asyncgate-isolation-'))
    const channels = { blob_path: join(folder, 'blob'), file_path: join(folder, 'file') }
    const config = configOf({ port: 0, auth: { api_key: 'unused' }, log: { level: 'silent' }, channels })
    gate = await startGate(config, { store: { ...opened.store, close: async () => {} }, hashCost: CHEAP })
    const [a, b] = [await keyOf('a'), await keyOf('b')]
    scene = await setScene(createClient({ url: gate.url, apiKey: a, retry: false }))
    keyOfA = a
    keyOfB = b
    for (const protocol of PROTOCOLS) doors.set(protocol, openDoor(protocol, gate.url))
  })
  afterAll(async () => {
    for (const door of doors.values()) await door.close()
    await gate.stop()
    await opened.dispose()
    await rm(folder, { recursive: true })
  })

  /** An administrator: nothing but the tenant stands between it and what is A's. */
  async function keyOf(tenant_id: string): Promise<string> {
    const principal = { principal_kind: 'agent', principal_id: 'alice' }
    await gate.dispatch('createTenant', { tenant_id }, { caller: OPERATOR })
    const made = await gate.dispatch('createTenantKey', { tenant_id, principal }, { caller: OPERATOR })
    return (made as { api_key: string }).api_key
  }

  const stateOfA = () => stateText(opened.store, 'a')
  const told = ({ status, body }: Answer, id: string) =>
    JSON.stringify({ status, body }).replaceAll(id, '<id>')

  /** As the operators' log has it. */
  const attemptAt = (id: string, key: OperationKey) =>
    `critical: Tenant b asked for ${id}, which is of tenant a. Operation ${key}.`
  async function lastAttempt(): Promise<string> {
    await gate.audit.settled()
    const facts = { tenantId: 'default', severity: null, since: null, before: null, limit: 1 }
    const [row] = await opened.store.listAudit({ ...facts, event: 'cross_tenant.attempted' })
    return `${row?.severity}: ${row?.reason}`
  }

  for (const protocol of PROTOCOLS) {
    const ask = (key: OperationKey, input: object) => doors.get(protocol)!.call(key, input, keyOfB)

    for (const key of OPERATIONS) {
      const { role }: Operation = contract[key]
      for (const { name, isList } of role === undefined ? idFields(key) : []) {
        verifies(
          'TEN-2',
          `${key} with every ${name} of another tenant, over ${protocol} on ${kind}`,
          async () => {
            const before = await stateOfA()
            const sort = sortOf(name)
            const input = (id: string) => ({ ...LEAST[key], [name]: isList ? [id] : id })
            const never = await ask(key, input(NEVER))
            if (mustBeFound(key, name)) expect([never.ok, never.body.error]).toEqual([false, 'not_found'])
            for (const id of scene.ids[sort])
              expect(told(await ask(key, input(id)), id)).toBe(told(never, NEVER))
            expect(await stateOfA()).toBe(before)
            if (mustBeFound(key, name))
              expect(await lastAttempt()).toBe(attemptAt(scene.ids[sort].at(-1)!, key))
          },
        )
      }
    }

    verifies(
      'TEN-2',
      `lists, claims and obligations hold nothing of another tenant, over ${protocol} on ${kind}`,
      async () => {
        const before = await stateOfA()
        const secrets = [...Object.values(scene.ids).flat(), scene.pointer, SECRET]
        const calls: [OperationKey, object][] = [
          ['listTasks', {}],
          ['listReceipts', {}],
          ['openObligations', { principal_id: 'default' }],
          ['bootstrap', {}],
          ['leaseNext', { worker_id: 'w', max_tasks: 100 }],
          ['settle', { worker_id: 'w', claim: { max_tasks: 100 } }],
          ['listKeys', {}],
          ['listAccounts', {}],
          ['listClients', {}],
          ['listTaskTypes', {}],
          ['listAudit', { limit: 200 }],
          ['getConfig', {}],
          ...Object.entries(scene.cursors).map(
            ([key, cursor]) => [key as OperationKey, { cursor }] as [OperationKey, object],
          ),
        ]
        for (const [key, input] of calls) {
          const { ok, body } = await ask(key, input)
          const text = JSON.stringify(body)
          expect([key, ok, secrets.filter((id) => text.includes(id))]).toEqual([key, true, []])
        }
        expect(await stateOfA()).toBe(before)
      },
    )

    verifies('TEN-2', `settle with the leases of another tenant, over ${protocol} on ${kind}`, async () => {
      const before = await stateOfA()
      const outcome = (task_id: string, lease_id: string) => ({
        task_id,
        lease_id,
        action: 'complete',
        result: 1,
      })
      const outcomes = (task: string, lease: string) => ({ worker_id: 'w', outcomes: [outcome(task, lease)] })
      const never = told(await ask('settle', outcomes(NEVER, NEVER)), NEVER)
      for (const task of scene.ids.task) {
        for (const lease of scene.ids.lease)
          expect(told(await ask('settle', outcomes(task, lease)), task)).toBe(never)
        expect(await lastAttempt()).toBe(attemptAt(task, 'settle'))
      }
      expect(await stateOfA()).toBe(before)
    })
  }

  verifies('TEN-2', `content of another tenant is neither given nor taken, on ${kind}`, async () => {
    const before = await stateOfA()
    const kept = async () => (await readdir(folder, { recursive: true })).toSorted()
    const files = await kept()
    const send = async (method: 'GET' | 'PUT', task: string, query: Record<string, string>, key = keyOfB) => {
      const address = `${gate.url}/v1/tasks/${task}/result/content?${new URLSearchParams(query).toString()}`
      const init = { method, headers: { authorization: `Bearer ${key}` } }
      const reply = await fetch(address, method === 'PUT' ? { ...init, body: 'mine now' } : init)
      return { status: reply.status, text: await reply.text() }
    }
    const worded = ({ status, text }: { status: number; text: string }, id: string) =>
      JSON.stringify([status, text.replaceAll(id, '<id>').replace(/"request_id":"[^"]+"/, '')])
    const { pointer } = scene
    for (const query of [{}, { pointer }]) {
      const never = worded(await send('GET', NEVER, query), NEVER)
      expect(never).toContain('not_found')
      for (const id of scene.ids.task) expect(worded(await send('GET', id, query), id)).toBe(never)
      expect(await lastAttempt()).toBe(attemptAt(scene.ids.task.at(-1)!, 'fetchTaskResult'))
    }
    for (const lease_id of scene.ids.lease) {
      const query = { worker_id: 'w', lease_id, channel: 'blob' }
      const never = worded(await send('PUT', NEVER, query), NEVER)
      for (const id of scene.ids.task) expect(worded(await send('PUT', id, query), id)).toBe(never)
    }
    expect([await stateOfA(), await kept()]).toEqual([before, files])
    const own = scene.ids.task.map((id) => send('GET', id, { pointer }, keyOfA))
    expect((await Promise.all(own)).filter(({ text }) => text === SECRET)).toHaveLength(1)
  })

  verifies(
    'TEN-2',
    `a pointer of another tenant, named as one's own, leads nowhere, on ${kind}`,
    async () => {
      const b = createClient({ url: gate.url, apiKey: keyOfB, retry: false })
      const { task_id } = await b.createTask({ type: 'thief' })
      const [held] = (await b.leaseNext({ worker_id: 'w', accept_types: ['thief'] })).tasks
      const { pointer } = scene
      const artifacts = [{ pointer, channel: 'blob', key: 'k' }]
      await b.complete({ worker_id: 'w', task_id, lease_id: held!.lease_id, artifacts })
      for (const call of [
        () => b.fetchTaskResult({ task_id, pointer }),
        () => b.archiveTaskResult({ task_id, pointer, channel: 'file' }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  verifies('TEN-2', `a type of another tenant is none, on ${kind}`, async () => {
    const [a, b] = [keyOfA, keyOfB].map((apiKey) => createClient({ url: gate.url, apiKey, retry: false }))
    const task_type = SECRET
    await expect(b!.getTaskType({ task_type })).rejects.toMatchObject({ code: 'not_found' })
    await expect(b!.deleteTaskType({ task_type })).rejects.toMatchObject({ code: 'not_found' })
    await b!.putTaskType({ task_type, description: 'of b', enabled: false })
    await b!.setRegisteredOnly({ registered_only: true })
    expect(await a!.getTaskType({ task_type })).toMatchObject({ description: SECRET, enabled: true })
    expect(await a!.listTaskTypes({})).toMatchObject({ registered_only: false })
    await b!.deleteTaskType({ task_type })
    await b!.setRegisteredOnly({ registered_only: false })
    expect((await a!.listTaskTypes({})).types).toHaveLength(1)
  })

  verifies('TEN-2', `an idempotency key of another tenant is a key of one's own, on ${kind}`, async () => {
    const [a, b] = ['a', 'b'].map((tenantId) => ({ ...SHARED_CALLER, tenantId }))
    const input = { type: 'a', idempotency_key: 'the same' }
    const first = (await gate.dispatch('createTask', input, { caller: a! })) as { task_id: string }
    const other = await gate.dispatch('createTask', { ...input, type: 'b' }, { caller: b! })
    expect(other).toMatchObject({ is_duplicate: false })
    expect(other).not.toMatchObject({ task_id: first.task_id })
  })
})

verifies('TEN-1', 'every statement that was sent for a tenant above says which one', () => {
  expect([...filterless]).toEqual([])
})
