// Hostile texts in every field of every operation, made from the contract so that a new operation is tried as well: metacharacters
// of SQL, of headers and of patterns, members that pollute prototypes, and members that callers have no say in. Each is refused,
// or taken as the text that it is; what is not the caller's stays as it was.
import {
  COMMON_ERRORS,
  contract,
  createClient,
  jsonSchema,
  type Operation,
  type OperationKey,
  routeOf,
} from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { systemIds, systemRandom } from '../src/ids.ts'
import { apiKey, CHEAP } from './api-key.ts'
import { PROTOCOLS } from './doors.ts'
import { LEAST } from './equivalence-history.ts'
import { callRaw, type RawAnswer, type RawCall } from './raw-calls.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const OPERATIONS = Object.keys(contract) as OperationKey[]
const OPERATOR = { ...SHARED_CALLER, role: 'operator' } as const
const HOSTILE = ["' or '1'='1' --", '\\"; drop table tasks; -- $1', 'x\r\nset-cookie: evil=1']
const WIDENING = [...HOSTILE, '%', '_', '*', '__proto__']
/** What servers keep beside what callers send. */
const NOT_THEIRS = [
  'tenant_id',
  'role',
  'scopes',
  'status',
  'attempt',
  'created_by',
  'created_at',
  'tier',
].concat(['key_id', 'secret_hash', 'password_hash', 'caller', 'speaksForAll', 'is_admin', 'constructor'])

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}
type Path = readonly (string | number)[]

const schemaOf = (key: OperationKey) => jsonSchema(contract[key].input) as Schema

/** Where the schema has what is looked for; into lists at their first item. */
function placesOf(schema: Schema, isWanted: (schema: Schema) => boolean, at: Path = []): Path[] {
  const { properties = {}, items, anyOf = [], oneOf = [] } = schema
  return [
    ...(isWanted(schema) ? [at] : []),
    ...Object.entries(properties).flatMap(([name, member]) => placesOf(member, isWanted, [...at, name])),
    ...(items === undefined ? [] : placesOf(items, isWanted, [...at, 0])),
    ...[...anyOf, ...oneOf].flatMap((choice) => placesOf(choice, isWanted, at)),
  ]
}

/** The least input of an operation with the value at that place. */
function inputWith(key: OperationKey, path: Path, value: unknown): Record<string, unknown> {
  const input = structuredClone(LEAST[key])
  let node = input as Record<string | number, unknown>
  path.slice(0, -1).forEach((name, depth) => {
    const isThere = typeof node[name] === 'object' && node[name] !== null
    if (!isThere) node[name] = typeof path[depth + 1] === 'number' ? [] : {}
    node = node[name] as Record<string | number, unknown>
  })
  node[path.at(-1)!] = value
  return input
}

function callOf(key: OperationKey, input: Record<string, unknown>): RawCall {
  const { pathFields } = routeOf(contract[key])
  const inPath = Object.entries(input).filter(([name]) => pathFields.includes(name))
  const rest = Object.entries(input).filter(([name]) => !pathFields.includes(name))
  const path = Object.fromEntries(inPath.map(([name, value]) => [name, String(value)]))
  return { key, path, text: JSON.stringify(Object.fromEntries(rest)) }
}

function isDeclared(key: OperationKey, { status, ok, body }: RawAnswer): boolean {
  const { errors }: Operation = contract[key]
  const known: readonly unknown[] = [...errors, ...COMMON_ERRORS, 'not_found']
  return status < 500 && body.error !== 'internal_error' && (ok || known.includes(body.error))
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let keys: Record<'attacker' | 'victim' | 'operator', string>

  beforeAll(async () => {
    opened = await openTestStore(kind)
    const config = configOf({ port: 0, auth: { api_key: 'unused' }, log: { level: 'silent' } })
    gate = await startGate(config, { store: { ...opened.store, close: async () => {} }, hashCost: CHEAP })
    const operator = await apiKey(systemRandom, {
      ...{ tenantId: 'default', keyId: systemIds.next(), role: 'operator', scopes: [] },
    })
    await opened.store.addKey(operator.key)
    keys = { attacker: await keyOf('attacker'), victim: await keyOf('victim'), operator: operator.text }
    await as('victim').createTask({ type: 'precious', payload: { a: 1 } })
    await as('victim').putTaskType({ task_type: 'precious' })
    await as('victim').registerClient({ name: 'Editor', redirect_uris: ['https://example.org/back'] })
    const ada = { principal_kind: 'human', principal_id: 'ada' } as const
    await as('victim').createAccount({ username: 'ada', role: 'agent', principal: ada, subject: 'ada' })
    await as('attacker').createTask({ type: 'ordinary' })
  })
  afterAll(async () => {
    await gate.stop()
    await opened.dispose()
  })

  const as = (who: keyof typeof keys) => createClient({ url: gate.url, apiKey: keys[who], retry: false })

  async function keyOf(tenant_id: string): Promise<string> {
    const principal = { principal_kind: 'human', principal_id: 'root' }
    await gate.dispatch('createTenant', { tenant_id }, { caller: OPERATOR })
    const made = await gate.dispatch('createTenantKey', { tenant_id, principal }, { caller: OPERATOR })
    return (made as { api_key: string }).api_key
  }

  /** Everything that a tenant has, and how the operator has set it. */
  async function whole(who: 'attacker' | 'victim'): Promise<string> {
    const client = as(who)
    const { tenants } = await as('operator').listTenants({ limit: 200 })
    const kept = [
      await client.listKeys({ limit: 200 }),
      await client.listAccounts({ limit: 200 }),
      await client.listClients({ limit: 200 }),
      await client.listTaskTypes({ limit: 200 }),
      tenants.find(({ tenant_id }) => tenant_id === who),
    ]
    return JSON.stringify(kept) + (await stateText(opened.store, who))
  }

  for (const protocol of PROTOCOLS) {
    const send = (call: RawCall) => {
      const { role }: Operation = contract[call.key]
      const credential = role === undefined ? keys.attacker : keys.operator
      return callRaw(protocol, call, { url: gate.url, credential })
    }

    verifies(
      ['ERR-1', 'TEN-1'],
      `metacharacters in every text of every operation are text, over ${protocol} on ${kind}`,
      async () => {
        const before = await whole('victim')
        for (const key of OPERATIONS) {
          const paths = placesOf(schemaOf(key), ({ type }) => type === 'string')
          const tries = paths.flatMap((path) => HOSTILE.map((text) => [path, text] as const))
          await Promise.all(
            tries.map(async ([path, text]) => {
              const answer = await send(callOf(key, inputWith(key, path, text)))
              const isFine = isDeclared(key, answer) && !JSON.stringify(answer).includes('precious')
              expect([key, path, text, isFine ? 'fine' : answer]).toEqual([key, path, text, 'fine'])
            }),
          )
        }
        expect(await whole('victim')).toBe(before)
      },
    )

    verifies('ERR-1', `a filter of metacharacters widens no list, over ${protocol} on ${kind}`, async () => {
      const filters: [OperationKey, string][] = [
        ...['type', 'tag', 'status', 'cursor', 'created_after'].map((name) => ['listTasks', name] as never),
        ...['to_kind', 'to_id', 'from_kind', 'from_id', 'receipt_type', 'task_id', 'cursor'].map(
          (name) => ['listReceipts', name] as never,
        ),
        ...['event', 'severity', 'cursor'].map((name) => ['listAudit', name] as never),
      ]
      for (const [key, name] of filters) {
        for (const text of WIDENING) {
          const { ok, body } = await send(callOf(key, { [name]: text }))
          const [list] = Object.values(body).filter(Array.isArray) as unknown[][]
          const strange = ok
            ? list!.filter((item) => !JSON.stringify(item).includes(JSON.stringify(text).slice(1, -1)))
            : [body.error].filter((error) => error !== 'invalid_input')
          expect([key, name, text, strange]).toEqual([key, name, text, []])
        }
      }
    })

    verifies(
      ['OPS-1', 'ERR-1'],
      `__proto__ in every object of every operation is refused, over ${protocol} on ${kind}`,
      async () => {
        const before = [await whole('attacker'), await whole('victim')]
        for (const key of OPERATIONS) {
          const isQuery = protocol === 'REST' && routeOf(contract[key]).method === 'GET'
          const objects = placesOf(schemaOf(key), ({ type }) => type === 'object')
          for (const path of isQuery ? [[]] : objects) {
            const call = callOf(key, inputWith(key, [...path, '@proto'], { polluted: 'yes' }))
            const { body } = await send({ ...call, text: call.text.replace('"@proto"', '"__proto__"') })
            // Of a batch each item is refused alone, within the reply.
            const isRefused = JSON.stringify(body).includes('"error":"invalid_input"')
            expect([key, path, isRefused ? 'refused' : body]).toEqual([key, path, 'refused'])
          }
        }
        expect(Object.keys(Object.prototype)).toEqual([])
        expect('polluted' in {}).toBe(false)
        expect([await whole('attacker'), await whole('victim')]).toEqual(before)
      },
    )

    verifies(
      ['OPS-1', 'AUTH-1'],
      `no operation takes what its callers have no say in, over ${protocol} on ${kind}`,
      async () => {
        const before = [await whole('attacker'), await whole('victim')]
        for (const key of OPERATIONS) {
          const own = Object.keys(schemaOf(key).properties ?? {})
          const names = NOT_THEIRS.filter((name) => !own.includes(name))
          const answers = await Promise.all(
            names.map((name) => send(callOf(key, { ...LEAST[key], [name]: 'victim' }))),
          )
          expect([key, answers.map(({ body }) => [body.error, body.field])]).toEqual([
            ...[key, names.map((name) => ['invalid_input', name])],
          ])
        }
        expect([await whole('attacker'), await whole('victim')]).toEqual(before)
      },
    )
  }
})
