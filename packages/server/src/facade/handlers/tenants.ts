// Handlers of operators: which tenants there are, and the first key of each.
import { GateError } from '@asyncgate/sdk'
import { DEFAULT_TENANT } from '../../auth/caller.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import type { Tenant } from '../../store/tenants.ts'
import type { Handlers } from '../handler.ts'
import { cutPage, decodeTenantCursor, encodeCursor, pageLimit } from '../page.ts'
import { limitsFromWire } from '../view-limits.ts'
import { tenantToWire } from '../view-access.ts'
import { createKeyMaker, madeToWire } from './new-key.ts'
import { millis } from './new-task.ts'
import { type HandlerParts, orNull } from './parts.ts'

type TenantHandlers = Pick<
  Handlers,
  'createTenant' | 'listTenants' | 'limitTenant' | 'suspendTenant' | 'resumeTenant' | 'createTenantKey'
>

export function tenantHandlers(parts: HandlerParts): TenantHandlers {
  const { store, list, clock, plans } = parts
  const make = createKeyMaker(parts)

  async function known(tenantId: string): Promise<Tenant> {
    const tenant = await store.readTenant(tenantId)
    if (tenant === null) throw noSuchTenant(tenantId)
    return tenant
  }

  return {
    createTenant: async ({ tenant_id: tenantId, name, tier }) => {
      const tenant: Tenant = {
        tenantId,
        name: orNull(name),
        tier,
        limits: {},
        createdAt: clock.now(),
        suspendedAt: null,
      }
      const isNew = await store.addTenant(tenant)
      return { ...tenantToWire(isNew ? tenant : await known(tenantId)), is_duplicate: !isNew }
    },
    listTenants: async (input) => {
      const limit = pageLimit(input.limit, list)
      const rows = await store.listTenants({ after: decodeTenantCursor(input.cursor), limit: limit + 1 })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('tenants', last.tenantId),
      })
      return { tenants: page.map(tenantToWire), next_cursor: next }
    },
    limitTenant: async ({ tenant_id: tenantId, tier, ...figures }) => {
      const tenant = await store.limitTenant({ tenantId, tier, limits: limitsFromWire(figures) })
      if (tenant === null) throw noSuchTenant(tenantId)
      plans.forget(tenantId)
      return tenantToWire(tenant)
    },
    suspendTenant: async ({ tenant_id: tenantId }) => {
      if (tenantId === DEFAULT_TENANT) throw staysActive()
      const tenant = await store.suspendTenant({ tenantId, suspendedAt: clock.now() })
      if (tenant === null) throw noSuchTenant(tenantId)
      return tenantToWire(tenant)
    },
    resumeTenant: async ({ tenant_id: tenantId }) => {
      const tenant = await store.suspendTenant({ tenantId, suspendedAt: null })
      if (tenant === null) throw noSuchTenant(tenantId)
      return tenantToWire(tenant)
    },
    createTenantKey: async ({ tenant_id: tenantId, principal, name, expires_at }, { caller }) => {
      await known(tenantId)
      const bindings = {
        tenantId,
        name: orNull(name),
        principal: { kind: principal.principal_kind, id: principal.principal_id },
        role: 'admin' as const,
        scopes: DEFAULT_SCOPES.admin,
        expiresAt: millis(expires_at),
      }
      const made = await make(bindings, caller.principal)
      await store.addKey(made.key)
      return madeToWire(made, clock.now())
    },
  }
}

function noSuchTenant(tenantId: string): GateError {
  return new GateError('not_found', `No tenant ${tenantId}. Check the id, or list the tenants.`)
}

function staysActive(): GateError {
  const message =
    'The default tenant is that of the operators themselves and cannot be suspended. Revoke keys instead.'
  return new GateError('invalid_transition', message)
}
