// Who acts (AUTH-5): the credential says who calls, the input may say for whom. Only a credential that speaks
// for all of its tenant may name somebody else.
import { GateError } from '@asyncgate/sdk'
import { type Caller, DEFAULT_PRINCIPAL, type Principal, type PrincipalKind } from '../auth/caller.ts'

/** The fields of an input that name a principal; each operation has some of them. */
interface Named {
  readonly principal_kind?: PrincipalKind | undefined
  readonly principal_id?: string | undefined
  readonly principal_instance_id?: string | undefined
  readonly worker_id?: string | undefined
  readonly worker_kind?: PrincipalKind | undefined
}

export interface Acting {
  readonly acting: Principal
  readonly instanceId: string | null
}

export function resolveActing(input: Named, caller: Caller): Acting {
  if (!caller.speaksForAll) refuseOthers(input, caller)
  return { acting: principalOf(input, caller), instanceId: input.principal_instance_id ?? null }
}

function principalOf(input: Named, caller: Caller): Principal {
  const own = caller.speaksForAll ? DEFAULT_PRINCIPAL : caller.principal
  const namesPrincipal = input.principal_kind !== undefined || input.principal_id !== undefined
  if (input.worker_id !== undefined && !namesPrincipal) {
    const kind = caller.speaksForAll ? 'worker' : caller.principal.kind
    return { kind: input.worker_kind ?? kind, id: input.worker_id }
  }
  if (!namesPrincipal) return own
  return { kind: input.principal_kind ?? own.kind, id: input.principal_id ?? own.id }
}

function refuseOthers(input: Named, caller: Caller): void {
  const { kind, id } = caller.principal
  if ((input.principal_kind ?? kind) !== kind) throw notYours('principal_kind', caller)
  if ((input.principal_id ?? id) !== id) throw notYours('principal_id', caller)
  if ((input.worker_kind ?? kind) !== kind) throw notYours('worker_kind', caller)
  if (input.worker_id !== undefined && !isInstanceOf(input.worker_id, id)) throw notYours('worker_id', caller)
}

/** `indexer`, `indexer-1`, `indexer.1`, `indexer:1` and `indexer/1` are all the worker `indexer`. */
function isInstanceOf(workerId: string, principalId: string): boolean {
  if (workerId === principalId) return true
  return workerId.startsWith(principalId) && /^[.\-:/]./su.test(workerId.slice(principalId.length))
}

function notYours(field: string, caller: Caller): GateError {
  const { kind, id } = caller.principal
  const message =
    `Your credential acts as ${kind}/${id} alone, and ${field} names another. ` +
    `${field === 'worker_id' ? `Call yourself "${id}" or "${id}-<instance>"` : `Leave ${field} out`}, or use an admin key.`
  return new GateError('forbidden', message, { field, required_scope: 'admin:write', your_role: caller.role })
}
