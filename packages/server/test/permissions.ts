// AUTH-3 as a table: what each role may do with each operation.
//
// - no: 403, whatever it is about.
// - own: for itself, and with what is its own (as owner, recipient or lease holder); what is another's is refused as if it
//   were not there.
// - all: with everything of its tenant, and for any of its principals.
import type { OperationKey } from '@asyncgate/sdk'

export type Cell = 'no' | 'own' | 'all'

/** `scheduler` is a service with the scopes that AUTH-3 names; an operator keeps tenants and sees nothing inside of one. */
export const ROLES = ['agent', 'worker', 'scheduler', 'admin', 'operator'] as const
export type TestedRole = (typeof ROLES)[number]

type Row = readonly [agent: Cell, worker: Cell, scheduler: Cell, admin: Cell, operator: Cell]

export const PERMISSIONS: Readonly<Record<OperationKey, Row>> = {
  //                agent  worker scheduler admin operator
  createTask: /*  */ ['own', 'no', 'own', 'all', 'no'],
  createTasks: /* */ ['own', 'no', 'own', 'all', 'no'],
  getTask: /*     */ ['own', 'own', 'own', 'all', 'no'],
  listTasks: /*   */ ['own', 'no', 'no', 'all', 'no'],
  cancelTask: /*  */ ['own', 'no', 'own', 'all', 'no'],
  retryTask: /*   */ ['own', 'no', 'own', 'all', 'no'],
  explainTask: /* */ ['own', 'no', 'no', 'all', 'no'],
  getProgress: /* */ ['own', 'no', 'no', 'all', 'no'],
  attachArtifacts: ['own', 'own', 'own', 'all', 'no'],
  leaseNext: /*   */ ['no', 'own', 'own', 'all', 'no'],
  renewLease: /*  */ ['no', 'own', 'own', 'all', 'no'],
  releaseLease: /**/ ['no', 'own', 'own', 'all', 'no'],
  start: /*       */ ['no', 'own', 'own', 'all', 'no'],
  reportProgress: ['no', 'own', 'own', 'all', 'no'],
  complete: /*    */ ['no', 'own', 'own', 'all', 'no'],
  fail: /*        */ ['no', 'own', 'own', 'all', 'no'],
  settle: /*      */ ['no', 'own', 'own', 'all', 'no'],
  putTaskResult: /**/ ['no', 'own', 'own', 'all', 'no'],
  fetchTaskResult: ['own', 'no', 'no', 'all', 'no'],
  archiveTaskResult: ['own', 'no', 'own', 'all', 'no'],
  openObligations: ['own', 'own', 'own', 'all', 'no'],
  checkTerminator: ['own', 'own', 'own', 'all', 'no'],
  listReceipts: /**/ ['own', 'own', 'own', 'all', 'no'],
  getReceipt: /*  */ ['own', 'own', 'own', 'all', 'no'],
  ackReceipt: /*  */ ['own', 'no', 'no', 'all', 'no'],
  submitReceipt: /**/ ['no', 'no', 'own', 'all', 'no'],
  bootstrap: /*   */ ['own', 'own', 'own', 'all', 'no'],
  getConfig: /*   */ ['all', 'all', 'all', 'all', 'all'],
  createKey: /*   */ ['no', 'no', 'no', 'all', 'no'],
  listKeys: /*    */ ['no', 'no', 'no', 'all', 'no'],
  rotateKey: /*   */ ['no', 'no', 'no', 'all', 'no'],
  revokeKey: /*   */ ['no', 'no', 'no', 'all', 'no'],
  createWorkerKey: ['no', 'no', 'no', 'all', 'no'],
  createAccount: ['no', 'no', 'no', 'all', 'no'],
  listAccounts: /**/ ['no', 'no', 'no', 'all', 'no'],
  setAccountPassword: ['no', 'no', 'no', 'all', 'no'],
  disableAccount: ['no', 'no', 'no', 'all', 'no'],
  enableAccount: ['no', 'no', 'no', 'all', 'no'],
  registerClient: ['no', 'no', 'no', 'all', 'no'],
  listClients: /* */ ['no', 'no', 'no', 'all', 'no'],
  revokeClient: /**/ ['no', 'no', 'no', 'all', 'no'],
  createTenant: /**/ ['no', 'no', 'no', 'no', 'all'],
  listTenants: /* */ ['no', 'no', 'no', 'no', 'all'],
  limitTenant: /* */ ['no', 'no', 'no', 'no', 'all'],
  suspendTenant: ['no', 'no', 'no', 'no', 'all'],
  resumeTenant: /**/ ['no', 'no', 'no', 'no', 'all'],
  createTenantKey: ['no', 'no', 'no', 'no', 'all'],
  putTaskType: /* */ ['no', 'no', 'no', 'all', 'no'],
  listTaskTypes: /**/ ['all', 'no', 'no', 'all', 'no'],
  getTaskType: /* */ ['all', 'no', 'no', 'all', 'no'],
  deleteTaskType: ['no', 'no', 'no', 'all', 'no'],
  setRegisteredOnly: ['no', 'no', 'no', 'all', 'no'],
  listAudit: /*   */ ['no', 'no', 'no', 'all', 'no'],
}

export function cellOf(key: OperationKey, role: TestedRole): Cell {
  return PERMISSIONS[key][ROLES.indexOf(role)]!
}
