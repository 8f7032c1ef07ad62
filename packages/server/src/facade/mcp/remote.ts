// The door of a running server, reached through the client: what `asyncgate mcp --url` serves on stdio.
import type { Client, Scope } from '@asyncgate/sdk'
import type { Caller, Role } from '../../auth/caller.ts'
import { DEFAULT_PRINCIPAL } from '../../auth/caller.ts'
import type { Dispatch } from '../dispatch.ts'

export function createRemoteDispatch(client: Client): Dispatch {
  return (key, input, { signal }) => {
    // The server there parses the input as it would from anyone; here it only passes through.
    const call = client[key] as (input: unknown, options: { signal?: AbortSignal }) => Promise<object>
    return call(input, signal ? { signal } : {})
  }
}

/** Who the client's credential is over there: decides which tools are listed. */
export async function remoteCaller(client: Client): Promise<Caller> {
  const { caller } = await client.getConfig()
  return {
    tenantId: caller.tenant_id,
    principal: DEFAULT_PRINCIPAL,
    role: caller.role as Role,
    scopes: new Set(caller.scopes as Scope[]),
    speaksForAll: caller.scopes.includes('admin:write'),
  }
}
