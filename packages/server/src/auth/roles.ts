// What each role may do unless its credential says otherwise (AUTH-3).
import { SCOPES, type Scope } from '@asyncgate/sdk'
import type { Role } from './caller.ts'

export const DEFAULT_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  agent: ['tasks:read', 'tasks:write', 'receipts:read', 'receipts:ack'],
  worker: ['tasks:lease', 'receipts:read'],
  /** A service gets exactly what it is given. */
  service: [],
  admin: SCOPES,
  /** Operators keep tenants; they see nothing inside of one. */
  operator: [],
}
