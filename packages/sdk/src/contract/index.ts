// The contract: every operation of AsyncGate, as data.
import { auditOperations } from './audit.ts'
import { keyOperations } from './key.ts'
import { leaseOperations } from './lease.ts'
import { receiptOperations } from './receipt.ts'
import { resultOperations } from './result.ts'
import { systemOperations } from './system.ts'
import { taskOperations } from './task.ts'
import { tenantOperations } from './tenant.ts'

export const contract = {
  ...taskOperations,
  ...leaseOperations,
  ...resultOperations,
  ...receiptOperations,
  ...systemOperations,
  ...keyOperations,
  ...tenantOperations,
  ...auditOperations,
}
export type GateContract = typeof contract
export type OperationKey = keyof GateContract
