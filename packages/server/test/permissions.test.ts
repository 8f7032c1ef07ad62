// Every cell of the table of permissions, with real keys, on both protocols.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, contract, createClient, type Operation, type OperationKey } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { systemIds, systemRandom } from '../src/ids.ts'
import { apiKey, CHEAP } from './api-key.ts'
import { type Door, openDoor, PROTOCOLS } from './doors.ts'
import { type Cell, cellOf, ROLES, type TestedRole } from './permissions.ts'
import { type Owner, PROBES } from './permission-probes.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'

const SHARED = 'the-shared-key-of-the-test'
const OPERATIONS = Object.keys(contract) as OperationKey[]

/** Who calls, and whose things are not its own. */
const CAST: Readonly<Record<TestedRole, { caller: Owner; other: Owner }>> = {
  agent: { caller: { kind: 'agent', id: 'alice' }, other: { kind: 'agent', id: 'bob' } },
  worker: { caller: { kind: 'worker', id: 'indexer' }, other: { kind: 'worker', id: 'renderer' } },
  scheduler: { caller: { kind: 'service', id: 'scheduler' }, other: { kind: 'service', id: 'meter' } },
  admin: { caller: { kind: 'agent', id: 'default' }, other: { kind: 'worker', id: 'renderer' } },
  operator: { caller: { kind: 'human', id: 'olga' } as never, other: { kind: 'agent', id: 'bob' } },
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let admin: Client
  let folder: string
  const keys = new Map<TestedRole, string>()
  const doors = new Map<string, Door>()

  beforeAll(async () => {
    opened = await openTestStore(kind)
    folder = await mkdtemp(join(tmpdir(), 'asyncgate-permissions-'))
    const config = configOf({
      port: 0,
      auth: { api_key: SHARED },
      channels: { blob_path: folder },
      log: { level: 'silent' },
    })
    gate = await startGate(config, {
      store: { ...opened.store, close: async () => {} },
      hashCost: CHEAP,
    })
    admin = createClient({ url: gate.url, apiKey: SHARED, retry: false })
    for (const role of ROLES) keys.set(role, await keyFor(role))
    for (const protocol of PROTOCOLS) doors.set(protocol, openDoor(protocol, gate.url))
  })
  afterAll(async () => {
    for (const door of doors.values()) await door.close()
    await gate.stop()
    await opened.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  async function keyFor(role: TestedRole): Promise<string> {
    const { caller } = CAST[role]
    if (role === 'operator') {
      const { key, text } = await apiKey(systemRandom, {
        ...{ tenantId: 'default', keyId: systemIds.next(), principal: caller },
        ...{ role, scopes: [] },
      })
      await opened.store.addKey(key)
      return text
    }
    const made = await admin.createKey({
      role: role === 'scheduler' ? 'service' : role,
      principal: { principal_kind: caller.kind, principal_id: caller.id },
      ...(role === 'scheduler' && {
        scopes: ['tasks:lease', 'tasks:write', 'receipts:read', 'receipts:write'],
      }),
    })
    return made.api_key
  }

  for (const protocol of PROTOCOLS) {
    for (const role of ROLES) {
      for (const key of OPERATIONS) {
        const cell = cellOf(key, role)
        verifies('AUTH-3', `${role} × ${key}: ${cell}, over ${protocol} on ${kind}`, () =>
          prove(key, role, cell),
        )
      }
    }

    async function prove(key: OperationKey, role: TestedRole, cell: Cell): Promise<void> {
      const { caller, other } = CAST[role]
      const { input: prepare, refusal, shows } = PROBES[key]
      const ask = async (owner: Owner) => {
        const input = await prepare(admin, owner, caller)
        const { ok, body } = await doors.get(protocol)!.call(key, input, keys.get(role)!)
        if (!ok) return body
        return { error: shows?.(body, input) === false ? 'unseen' : null }
      }
      if (cell === 'no') {
        const { scopes, role: required }: Operation = contract[key]
        expect(await ask(other)).toMatchObject({
          error: 'forbidden',
          ...(required === undefined ? { required_scope: scopes[0] } : { required_role: required }),
          your_role: role === 'scheduler' ? 'service' : role,
        })
        return
      }
      expect((await ask(cell === 'own' ? caller : other)).error).toBeNull()
      if (cell === 'own') expect((await ask(other)).error).toBe(refusal)
    }
  }
})
