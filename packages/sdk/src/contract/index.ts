// The contract: every operation of AsyncGate, as data.
import { accountOperations } from './account.ts'
import { auditOperations } from './audit.ts'
import { keyOperations } from './key.ts'
import { leaseOperations } from './lease.ts'
import { clientOperations } from './oauth-client.ts'
import { receiptOperations } from './receipt.ts'
import { resultOperations } from './result.ts'
import { systemOperations } from './system.ts'
import { taskOperations } from './task.ts'
import { taskTypeOperations } from './task-type.ts'
import { tenantOperations } from './tenant.ts'

export const contract = {
  ...taskOperations,
  ...leaseOperations,
  ...resultOperations,
  ...receiptOperations,
  ...systemOperations,
  ...keyOperations,
  ...accountOperations,
  ...clientOperations,
  ...tenantOperations,
  ...taskTypeOperations,
  ...auditOperations,
}
export type GateContract = typeof contract
export type OperationKey = keyof GateContract
