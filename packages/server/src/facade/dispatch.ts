// The one door. Every call on every protocol takes these steps in this order; whatever a facade serves, it
// serves through here.
import { contract, GateError, type Operation, type OperationKey, parseInput } from '@asyncgate/sdk'
import type { Caller, Role } from '../auth/caller.ts'
import { resolveActing } from './acting.ts'
import { type Audit, FROM_WITHIN, type Origin } from './audit.ts'
import { auditAct, auditItems, auditRefusal, isAct } from './audit-call.ts'
import { createWithin, isCreation } from './creation-limit.ts'
import type { CallContext, Handlers } from './handler.ts'
import type { Admission, Limiter } from '../limits/limiter.ts'

export interface DispatchRequest {
  readonly caller: Caller
  /** Absent for calls from within the process: they get one of their own. */
  readonly requestId?: string
  /** Absent for calls from within the process. */
  readonly origin?: Origin
  readonly signal?: AbortSignal
  /** Leave to call. Absent for calls from within the process: they are not limited. */
  readonly admission?: Admission | undefined
  /** Content that travels besides input and reply: see handler.ts. */
  readonly upload?: CallContext['upload']
  readonly deliver?: CallContext['deliver']
}

/** Also the shape of a door elsewhere: see mcp/remote.ts. Throws nothing but `GateError`. */
export type Dispatch = (key: OperationKey, input: unknown, request: DispatchRequest) => Promise<object>

export interface CallLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface CallRecord {
  readonly operation: OperationKey
  /** `ok`, or the code of the error. */
  readonly outcome: string
  readonly durationMs: number
}

export interface DispatchParts {
  readonly handlers: Handlers
  readonly limiter?: Limiter
  readonly audit: Audit
  readonly metrics?: (record: CallRecord) => void
  readonly log: CallLog
  readonly ids: { next(): string }
  readonly clock: { now(): number }
}

/** What the steps share about one call. */
interface Call {
  readonly key: OperationKey
  readonly operation: Operation
  readonly caller: Caller
  readonly requestId: string
  readonly origin: Origin
  readonly signal: AbortSignal
  readonly upload: CallContext['upload']
  readonly deliver: CallContext['deliver']
  readonly startedAt: number
  readonly admission: Admission | undefined
}

export function createDispatch(parts: DispatchParts): Dispatch {
  return async (key, input, request) => {
    const { caller, requestId = parts.ids.next(), origin = FROM_WITHIN, signal = NEVER } = request
    const { upload, deliver, admission } = request
    const operation: Operation = contract[key]
    const startedAt = parts.clock.now()
    const call: Call = {
      key,
      operation,
      caller,
      requestId,
      origin,
      signal,
      upload,
      deliver,
      startedAt,
      admission,
    }
    try {
      const reply = await take(call, input, parts)
      record(call, 'ok', parts)
      return reply
    } catch (thrown) {
      const error = toGateError(thrown, call, parts.log)
      auditRefusal(call, input, error, parts.audit)
      record(call, error.code, parts)
      throw error
    }
  }
}

async function take(call: Call, input: unknown, parts: DispatchParts): Promise<object> {
  const { limiter, handlers, audit } = parts
  if (limiter !== undefined && call.admission?.isUsed === true) await admitAgain(call, limiter)
  if (call.admission !== undefined) call.admission.isUsed = true
  permit(call)
  const parsed = parseInput(call.operation.input, input)
  const reply = await (limiter !== undefined && isCreation(call.key)
    ? createWithin(limiter, call, { input: parsed, create: () => handle(call, parsed, handlers) })
    : handle(call, parsed, handlers))
  auditItems(call, input, reply, audit)
  if (isAct(call.key)) await auditAct(call, parsed, reply, audit)
  return reply
}

/** A second call in one request, as the older protocol's batches allow. */
async function admitAgain({ caller, admission }: Call, limiter: Limiter): Promise<void> {
  const { shown } = await limiter.admit(caller)
  if (admission !== undefined) admission.shown = shown
}

/** Whether the scopes of the caller are enough. */
export function hasScope({ scopes }: Operation, caller: Caller): boolean {
  return scopes.length === 0 || scopes.some((scope) => caller.scopes.has(scope))
}

function permit({ operation, caller }: Call): void {
  const { scopes, role } = operation
  if (role !== undefined && caller.role !== role) throw wrongRole(role, caller)
  if (hasScope(operation, caller)) return
  const message =
    `This needs the scope ${scopes.join(' or ')}, which your credential (role ${caller.role}) does not have. ` +
    'Use a credential that has it.'
  throw new GateError('forbidden', message, { required_scope: scopes[0], your_role: caller.role })
}

function wrongRole(role: Role, caller: Caller): GateError {
  const message = `This is for the role ${role}, and your credential has the role ${caller.role}. Use a credential of that role.`
  return new GateError('forbidden', message, { required_role: role, your_role: caller.role })
}

function handle(call: Call, input: object, handlers: Handlers): Promise<object> {
  const { caller, requestId, signal, upload, deliver } = call
  const { acting, instanceId } = resolveActing(input, caller)
  const context: CallContext = { caller, acting, instanceId, requestId, signal, upload, deliver }
  // The compiler cannot tie a key to its own input across a union; `parseInput` with the entry of that same key did.
  const handler = handlers[call.key] as (input: object, context: CallContext) => Promise<object>
  return handler(input, context)
}

function toGateError(thrown: unknown, call: Call, log: CallLog): GateError {
  if (thrown instanceof GateError) {
    if (thrown.code === 'channel_unavailable')
      log.error(
        { error: thrown.cause, request_id: call.requestId, operation: call.key },
        'a result channel failed',
      )
    return thrown
  }
  if (call.signal.aborted && thrown === call.signal.reason) {
    return new GateError(
      'database_unavailable',
      'The call was ended early. Repeat it.',
      {},
      { cause: thrown },
    )
  }
  log.error({ error: thrown, request_id: call.requestId, operation: call.key }, 'call failed on our side')
  const message =
    'Something went wrong on the server. Repeating the call may help; if not, report its request id.'
  return new GateError('internal_error', message, {}, { cause: thrown })
}

function record(call: Call, outcome: string, { metrics, log, clock }: DispatchParts): void {
  const durationMs = clock.now() - call.startedAt
  metrics?.({ operation: call.key, outcome, durationMs })
  const { tenantId, principal } = call.caller
  const fields = {
    request_id: call.requestId,
    operation: call.key,
    outcome,
    duration_ms: durationMs,
    tenant_id: tenantId,
    principal: `${principal.kind}/${principal.id}`,
  }
  log.info(fields, 'call')
}

const NEVER = new AbortController().signal
