// Every operation's handler. The type makes sure that none is missing.
import type { Handlers } from '../handler.ts'
import { accountHandlers } from './accounts.ts'
import { auditHandlers } from './audit.ts'
import { clientHandlers } from './clients.ts'
import { keyHandlers } from './keys.ts'
import { leaseHandlers } from './leases.ts'
import type { HandlerParts } from './parts.ts'
import { receiptHandlers } from './receipts.ts'
import { resultHandlers } from './results.ts'
import { systemHandlers } from './system.ts'
import { taskHandlers } from './tasks.ts'
import { taskTypeHandlers } from './task-types.ts'
import { tenantHandlers } from './tenants.ts'

export function createHandlers(parts: HandlerParts): Handlers {
  return {
    ...taskHandlers(parts),
    ...leaseHandlers(parts),
    ...resultHandlers(parts),
    ...receiptHandlers(parts),
    ...systemHandlers(parts),
    ...keyHandlers(parts),
    ...accountHandlers(parts),
    ...clientHandlers(parts),
    ...tenantHandlers(parts),
    ...taskTypeHandlers(parts),
    ...auditHandlers(parts),
  }
}
