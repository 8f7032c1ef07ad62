// Handlers of the API keys of a tenant.
import { GateError, type Role, type Scope } from '@asyncgate/sdk'
import type { Caller } from '../../auth/caller.ts'
import { isLive } from '../../auth/key-check.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, encodeCursor, pageLimit } from '../page.ts'
import { keyToWire } from '../view-access.ts'
import { type Bindings, createKeyMaker, type MadeKey, madeToWire } from './new-key.ts'
import { millis } from './new-task.ts'
import { type HandlerParts, orNull } from './parts.ts'

type KeyHandlers = Pick<Handlers, 'createKey' | 'listKeys' | 'rotateKey' | 'revokeKey' | 'createWorkerKey'>

export function keyHandlers(parts: HandlerParts): KeyHandlers {
  const { store, list, clock } = parts
  const make = createKeyMaker(parts)

  async function add(bindings: Omit<Bindings, 'tenantId'>, { caller }: CallContext): Promise<MadeKey> {
    assertGivable(bindings, caller)
    const made = await make({ ...bindings, tenantId: caller.tenantId }, caller.principal)
    await store.addKey(made.key)
    return made
  }

  return {
    createKey: async ({ role, principal, scopes, name, expires_at }, context) => {
      const bindings = {
        name: orNull(name),
        principal: { kind: principal.principal_kind, id: principal.principal_id },
        role,
        scopes: scopes === undefined ? DEFAULT_SCOPES[role] : [...new Set(scopes)],
        expiresAt: millis(expires_at),
      }
      return madeToWire(await add(bindings, context), clock.now())
    },
    createWorkerKey: async ({ worker_id, expires_at }, context) => {
      const principal = { kind: 'worker', id: worker_id } as const
      const bindings = { name: null, principal, role: 'worker', expiresAt: millis(expires_at) } as const
      const made = await add({ ...bindings, scopes: DEFAULT_SCOPES.worker }, context)
      const { api_key, key_id, expires_at: ends } = madeToWire(made, clock.now())
      return { api_key, worker_id, key_id, expires_at: ends }
    },
    listKeys: async (input, { caller }) => {
      const limit = pageLimit(input.limit, list)
      const before = decodeIdCursor('keys', input.cursor)
      const rows = await store.listKeys({ tenantId: caller.tenantId, before, limit: limit + 1 })
      const { page, next } = cutPage(rows, limit, { cursorOf: (last) => encodeCursor('keys', last.keyId) })
      return { keys: page.map((key) => keyToWire(key, clock.now())), next_cursor: next }
    },
    rotateKey: async ({ key_id, overlap_seconds, expires_at }, { caller }) => {
      const { tenantId } = caller
      const old = await store.readKey(tenantId, key_id)
      if (old === null) throw noSuchKey(key_id)
      if (!isLive(old, clock.now())) throw notLive()
      assertGivable(old, caller)
      const { name, principal, role, scopes } = old
      const sameLife = old.expiresAt === null ? null : clock.now() + old.expiresAt - old.createdAt
      const expiresAt = millis(expires_at) ?? sameLife
      const bindings = { tenantId, name, principal, role, scopes, expiresAt }
      const made = await make(bindings, caller.principal)
      const now = clock.now()
      const until = now + overlap_seconds * 1_000
      const isDone = await store.replaceKey({ keyId: key_id, until, now, replacement: made.key })
      if (!isDone) throw notLive()
      return madeToWire(made, now)
    },
    revokeKey: async ({ key_id }, { caller }) => {
      const key = await store.revokeKey({ tenantId: caller.tenantId, keyId: key_id, now: clock.now() })
      if (key === null) throw noSuchKey(key_id)
      return keyToWire(key, clock.now())
    },
  }
}

/** Nobody gives away what they do not have. */
export function assertGivable(
  { role, scopes }: { role: Role; scopes: readonly Scope[] },
  caller: Caller,
): void {
  const missing = scopes.find((scope) => !caller.scopes.has(scope))
  if (missing !== undefined) {
    const message = `Your credential lacks the scope ${missing}, so it cannot give it. Leave it out, or use a credential that has it.`
    throw new GateError('forbidden', message, { required_scope: missing, your_role: caller.role })
  }
  if (role !== 'operator' || caller.role === 'operator') return
  const message = 'Only an operator makes keys of operators. Use "asyncgate keys" on the database.'
  throw new GateError('forbidden', message, { required_role: 'operator', your_role: caller.role })
}

function noSuchKey(keyId: string): GateError {
  return new GateError('not_found', `No key ${keyId}. Check the id, or list the keys.`)
}

function notLive(): GateError {
  const message =
    'The key has expired or was revoked, so there is nothing to replace. Make a new one with create_key.'
  return new GateError('invalid_transition', message)
}
