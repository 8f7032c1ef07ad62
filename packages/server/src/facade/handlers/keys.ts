// Handlers of the API keys of a tenant.
import { GateError, type Role, type Scope } from '@asyncgate/sdk'
import type { Caller } from '../../auth/caller.ts'
import { isLive } from '../../auth/key-check.ts'
import { type KeyText, makeKey } from '../../auth/key-text.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import { hashSecret } from '../../auth/secret-hash.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, encodeCursor, pageLimit } from '../page.ts'
import { keyToWire } from '../view-key.ts'
import { millis } from './new-task.ts'
import { type HandlerParts, orNull } from './parts.ts'

type KeyHandlers = Pick<Handlers, 'createKey' | 'listKeys' | 'rotateKey' | 'revokeKey' | 'createWorkerKey'>

type Bindings = Pick<ApiKey, 'name' | 'principal' | 'role' | 'scopes' | 'expiresAt'>

export function keyHandlers(parts: HandlerParts): KeyHandlers {
  const { store, list, clock, ids, random, hashCost } = parts

  async function made(bindings: Bindings, { caller, acting }: CallContext): Promise<MadeKey> {
    const { text, prefix } = makeKey(random)
    const secretHash = await hashSecret(text, { random, ...(hashCost && { cost: hashCost }) })
    const createdAt = clock.now()
    const key: ApiKey = {
      tenantId: caller.tenantId,
      keyId: ids.next(createdAt),
      prefix,
      secretHash,
      ...bindings,
      createdAt,
      createdBy: acting,
      revokedAt: null,
    }
    return { key, text }
  }

  async function added(bindings: Bindings, context: CallContext): Promise<MadeKey> {
    assertGivable(bindings, context.caller)
    assertAhead(bindings.expiresAt, clock.now())
    const { key, text } = await made(bindings, context)
    await store.addKey(key)
    return { key, text }
  }

  const shown = ({ key, text }: MadeKey) => ({ ...keyToWire(key, clock.now()), api_key: text })

  return {
    createKey: async ({ role, principal, scopes, name, expires_at }, context) => {
      const bindings = {
        name: orNull(name),
        principal: { kind: principal.principal_kind, id: principal.principal_id },
        role,
        scopes: scopes === undefined ? DEFAULT_SCOPES[role] : [...new Set(scopes)],
        expiresAt: millis(expires_at),
      }
      return shown(await added(bindings, context))
    },
    createWorkerKey: async ({ worker_id, expires_at }, context) => {
      const principal = { kind: 'worker', id: worker_id } as const
      const bindings = { name: null, principal, role: 'worker', expiresAt: millis(expires_at) } as const
      const {
        api_key,
        key_id,
        expires_at: ends,
      } = shown(await added({ ...bindings, scopes: DEFAULT_SCOPES.worker }, context))
      return { api_key, worker_id, key_id, expires_at: ends }
    },
    listKeys: async (input, { caller }) => {
      const limit = pageLimit(input.limit, list)
      const before = decodeIdCursor('keys', input.cursor)
      const rows = await store.listKeys({ tenantId: caller.tenantId, before, limit: limit + 1 })
      const { page, next } = cutPage(rows, limit, { cursorOf: (last) => encodeCursor('keys', last.keyId) })
      return { keys: page.map((key) => keyToWire(key, clock.now())), next_cursor: next }
    },
    rotateKey: async ({ key_id, overlap_seconds, expires_at }, context) => {
      const old = await store.readKey(context.caller.tenantId, key_id)
      if (old === null) throw noSuchKey(key_id)
      if (!isLive(old, clock.now())) throw notLive()
      assertGivable(old, context.caller)
      assertAhead(millis(expires_at), clock.now())
      const lifeMs = old.expiresAt === null ? null : old.expiresAt - old.createdAt
      const sameLife = lifeMs === null ? null : clock.now() + lifeMs
      const replacement = await made(
        { ...bindingsOf(old), expiresAt: millis(expires_at) ?? sameLife },
        context,
      )
      const now = clock.now()
      const until = now + overlap_seconds * 1_000
      const isDone = await store.replaceKey({ keyId: key_id, until, now, replacement: replacement.key })
      if (!isDone) throw notLive()
      return shown(replacement)
    },
    revokeKey: async ({ key_id }, { caller }) => {
      const key = await store.revokeKey({ tenantId: caller.tenantId, keyId: key_id, now: clock.now() })
      if (key === null) throw noSuchKey(key_id)
      return keyToWire(key, clock.now())
    },
  }
}

interface MadeKey extends Pick<KeyText, 'text'> {
  readonly key: ApiKey
}

function bindingsOf({ name, principal, role, scopes, expiresAt }: ApiKey): Bindings {
  return { name, principal, role, scopes, expiresAt }
}

/** Nobody gives away what they do not have. */
function assertGivable({ role, scopes }: { role: Role; scopes: readonly Scope[] }, caller: Caller): void {
  const missing = scopes.find((scope) => !caller.scopes.has(scope))
  if (missing !== undefined) {
    const message = `Your credential lacks the scope ${missing}, so it cannot give it. Leave it out, or use a credential that has it.`
    throw new GateError('forbidden', message, { required_scope: missing, your_role: caller.role })
  }
  if (role !== 'operator' || caller.role === 'operator') return
  const message = 'Only an operator makes keys of operators. Use "asyncgate keys" on the database.'
  throw new GateError('forbidden', message, { required_role: 'operator', your_role: caller.role })
}

/** A key that has already ended is a mistake in a date. */
function assertAhead(expiresAt: number | null, now: number): void {
  if (expiresAt === null || expiresAt > now) return
  const message = 'Field "expires_at" lies in the past. Give a later time, or leave it out.'
  throw new GateError('invalid_input', message, {
    field: 'expires_at',
    issues: [{ field: 'expires_at', message }],
  })
}

function noSuchKey(keyId: string): GateError {
  return new GateError('not_found', `No key ${keyId}. Check the id, or list the keys.`)
}

function notLive(): GateError {
  const message =
    'The key has expired or was revoked, so there is nothing to replace. Make a new one with create_key.'
  return new GateError('invalid_transition', message)
}
