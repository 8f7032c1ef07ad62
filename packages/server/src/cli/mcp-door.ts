// The two doors that `asyncgate mcp` can serve: the engine on a database of one's own, or a server elsewhere.
import type { Client } from '@asyncgate/sdk'
import type { Caller } from '../auth/caller.ts'
import type { Config } from '../config.ts'
import type { Dispatch } from '../facade/dispatch.ts'
import type { Log } from '../log.ts'

export interface Door {
  readonly dispatch: Dispatch
  readonly caller: Caller
  close(): Promise<void>
}

/** Who can read the database file is asked for no key. */
export async function localDoor(config: Config, log: Log): Promise<Door> {
  const { openGate } = await import('../gate.ts')
  const { SHARED_CALLER } = await import('../auth/shared-key.ts')
  const gate = await openGate(config, { log })
  return { dispatch: gate.dispatch, caller: SHARED_CALLER, close: () => gate.stop() }
}

/** A server that is not there when the client starts is told at once; one that goes later is waited for. */
export async function remoteDoor(connect: (options: { patient: boolean }) => Client): Promise<Door> {
  const { createRemoteDispatch, remoteCaller } = await import('../facade/mcp/remote.ts')
  const caller = await remoteCaller(connect({ patient: false }))
  return { dispatch: createRemoteDispatch(connect({ patient: true })), caller, close: async () => {} }
}
