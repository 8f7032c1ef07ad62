// What the one door writes into the audit log about a call: acts of administration, refusals for want of rights or by a limit,
// and ids that were not found.
import type { AuditEvent, ErrorCode, GateError, OperationKey } from '@asyncgate/sdk'
import type { Caller } from '../auth/caller.ts'
import type { Audit, AuditEntry, Origin } from './audit.ts'

export interface AuditedCall {
  readonly key: OperationKey
  readonly caller: Caller
  readonly origin: Origin
  readonly requestId: string
}

/** Every act of an administrator. What is read is written nowhere. */
const ACTS: Partial<Record<OperationKey, AuditEvent>> = {
  createKey: 'key.created',
  createWorkerKey: 'key.created',
  createTenantKey: 'key.created',
  rotateKey: 'key.rotated',
  revokeKey: 'key.revoked',
  createAccount: 'account.created',
  setAccountPassword: 'account.password_set',
  disableAccount: 'account.disabled',
  enableAccount: 'account.enabled',
  registerClient: 'client.registered',
  revokeClient: 'client.revoked',
  createTenant: 'tenant.created',
  limitTenant: 'tenant.limited',
  suspendTenant: 'tenant.suspended',
  resumeTenant: 'tenant.resumed',
  putTaskType: 'type.changed',
  setRegisteredOnly: 'type.changed',
  deleteTaskType: 'type.deleted',
}

/** The members of a reply that say what was done. The key itself is none of them. */
interface Done {
  readonly key_id?: string
  readonly prefix?: string
  readonly account_id?: string
  readonly username?: string
  readonly client_id?: string
  readonly name?: string | null
  readonly role?: string
  readonly principal?: { readonly principal_kind: string; readonly principal_id: string }
  readonly tenant_id?: string
  readonly tier?: string
  readonly is_duplicate?: boolean
  readonly task_type?: string
  readonly registered_only?: boolean
}

/** Nothing else is worth a second turn of the event loop on the path of every reply. */
export function isAct(key: OperationKey): boolean {
  return ACTS[key] !== undefined
}

/** Before the reply: an act of administration that could not be written down is not answered as done. */
export async function auditAct(
  call: AuditedCall,
  input: unknown,
  reply: object,
  audit: Audit,
): Promise<void> {
  const event = ACTS[call.key]
  const done = reply as Done // a reply of one of the operations above
  if (event === undefined || done.is_duplicate === true) return
  const entry = { ...entryOf(call, describe(call.key, done, input)), event }
  await audit.record(entry)
  const tenantId = concerned(input) ?? call.caller.tenantId
  if (tenantId !== call.caller.tenantId) await audit.record({ ...entry, tenantId })
}

const REFUSALS: Partial<Record<ErrorCode, AuditEvent>> = {
  forbidden: 'authorization.failed',
  rate_limit_exceeded: 'rate_limit.exceeded',
  quota_exceeded: 'quota.exceeded',
}

export function auditRefusal(call: AuditedCall, input: unknown, error: GateError, audit: Audit): void {
  const entry = entryOf(call, `${call.key}: ${error.message}`)
  const event = REFUSALS[error.code]
  if (event !== undefined) audit.note({ ...entry, event })
  if (NOT_THERE.has(error.code)) audit.lookOut(idsIn(input), entryOf(call, `Operation ${call.key}.`))
}

const NOT_THERE: ReadonlySet<unknown> = new Set<ErrorCode>(['not_found', 'parent_not_found'])

/** The lists, in input and reply alike, whose items are refused alone. */
const BATCHES: Partial<Record<OperationKey, string>> = { settle: 'outcomes', createTasks: 'tasks' }

/** A batch is answered as done, whatever became of its items. */
export function auditItems(call: AuditedCall, input: unknown, reply: object, audit: Audit): void {
  const name = BATCHES[call.key]
  if (name === undefined) return
  const asked = itemsIn(input, name)
  const missing = itemsIn(reply, name).flatMap(({ error }, at) =>
    NOT_THERE.has(error) ? idsIn(asked[at]) : [],
  )
  if (missing.length > 0) audit.lookOut(missing, entryOf(call, `Operation ${call.key}.`))
}

function itemsIn(whole: unknown, name: string): readonly { readonly error?: unknown }[] {
  return ((whole as Record<string, unknown>)[name] ?? []) as object[] // by the contract, a list of objects in the reply
}

function entryOf({ caller, origin, requestId }: AuditedCall, reason: string): Omit<AuditEntry, 'event'> {
  return { tenantId: caller.tenantId, principal: caller.principal, origin, requestId, reason }
}

/** The tenant that an operator's call is about: it has a right to know. */
function concerned(input: unknown): string | undefined {
  return (input as { tenant_id?: string }).tenant_id // parsed: a text where there is one
}

function describe(key: OperationKey, done: Done, input: unknown): string {
  const {
    key_id,
    prefix,
    account_id,
    username,
    client_id,
    name,
    role,
    principal,
    task_type,
    registered_only,
    tier,
  } = done
  const who = principal && `for ${principal.principal_kind}/${principal.principal_id}`
  const parts = [
    key_id && `key ${key_id}`,
    prefix && `(${prefix}…)`,
    account_id && `account ${account_id} (${username})`,
    client_id && `client ${client_id} (${name})`,
    who,
    role && `role ${role}`,
    concerned(input) && `tenant ${concerned(input)}`,
    task_type && `type ${task_type}`,
    registered_only !== undefined && `registered_only ${registered_only}`,
    key === 'limitTenant' && tier && `tier ${tier}`,
  ]
  return `${key}: ${parts.filter((part) => typeof part === 'string' && part !== '').join(' ')}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Every id that the input names, at the top or in a list there. */
function idsIn(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return []
  return Object.values(input)
    .flat()
    .filter((value): value is string => typeof value === 'string' && UUID.test(value))
    .map((id) => id.toLowerCase())
}
