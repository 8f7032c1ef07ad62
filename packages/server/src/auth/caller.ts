// Who is calling: derived from the credential alone, never from the request.
import type { Role, Scope } from '@asyncgate/sdk'
import type { Principal } from '../engine/model.ts'

export type { Role } from '@asyncgate/sdk'
export type { Principal, PrincipalKind } from '../engine/model.ts'

export interface Caller {
  readonly tenantId: string
  readonly principal: Principal
  readonly role: Role
  readonly scopes: ReadonlySet<Scope>
  /** May name any principal of its tenant: admin keys, the shared key, development mode. */
  readonly speaksForAll: boolean
  /** Came by a token: whoever holds it can ask its owner for further scopes. */
  readonly canAskForMore?: true
}

export const DEFAULT_TENANT = 'default'
export const DEFAULT_PRINCIPAL: Principal = { kind: 'agent', id: 'default' }

export function isAdmin(caller: Caller): boolean {
  return caller.scopes.has('admin:read') || caller.scopes.has('admin:write')
}
