// What a handler is: the parsed input of one operation and who asks for it, in; the reply, out.
// The facades know nothing else of the inside.
import type { GateContract, OperationKey, Output, Parsed } from '@asyncgate/sdk'
import type { Caller, Principal } from '../auth/caller.ts'
import type { OpenResult } from '../result/open.ts'

export interface CallContext {
  /** Whose credential it is. */
  readonly caller: Caller
  /** Who the call is made for: the caller itself, or whom it may speak for and has named. */
  readonly acting: Principal
  /** Session or process of the acting principal, where it told us. */
  readonly instanceId: string | null
  readonly requestId: string
  /** Fires when the client has gone or the server stops: a held call should end with what there is. */
  readonly signal: AbortSignal
  /** Content that came besides the input, where the protocol can stream. */
  readonly upload?: Upload | undefined
  /** Takes content besides the reply, where the protocol can stream; resolves when all of it is gone. */
  readonly deliver?: ((result: OpenResult) => Promise<void>) | undefined
}

export interface Upload {
  readonly content: AsyncIterable<Uint8Array>
  /** Where the sender says it. */
  readonly bytes: number | null
}

export type Handler<K extends OperationKey> = (
  input: Parsed<GateContract[K]>,
  context: CallContext,
) => Promise<Output<GateContract[K]>>

/** A missing handler does not compile. */
export type Handlers = { [K in OperationKey]: Handler<K> }
