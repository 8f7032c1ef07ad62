// The contract: every operation of AsyncGate, as data.
import { leaseOperations } from './lease.ts'
import { receiptOperations } from './receipt.ts'
import { systemOperations } from './system.ts'
import { taskOperations } from './task.ts'

export const contract = { ...taskOperations, ...leaseOperations, ...receiptOperations, ...systemOperations }
export type GateContract = typeof contract
export type OperationKey = keyof GateContract
