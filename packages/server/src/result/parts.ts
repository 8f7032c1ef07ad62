// What the parts of this folder are made of: rows in the store say what is kept, channels keep it.
import { GateError } from '@asyncgate/sdk'
import type { Channels } from '../channel/open.ts'
import { ChannelError } from '../channel/port.ts'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Store } from '../store/port.ts'

export interface ResultParts {
  readonly store: Store
  readonly channels: Channels
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}

const CODES = {
  missing: 'not_found',
  refused: 'forbidden',
  too_large: 'payload_too_large',
  unavailable: 'channel_unavailable',
} as const

/** What a channel says, as callers hear it. */
export function toGateError(error: unknown, channel: string): unknown {
  if (!(error instanceof ChannelError)) return error
  // What a store says may name addresses and folders of ours: it is for the log.
  const said =
    error.code === 'unavailable'
      ? 'its store does not answer as it should. Repeat the call; if that does not help, the log of the server says why.'
      : error.message
  return new GateError(CODES[error.code], `The channel ${channel}: ${said}`, { channel }, { cause: error })
}

/** Where something is put, what is missing is the place: no word of the task, which a worker would take for the end of its lease. */
export function toPutError(error: unknown, channel: string): unknown {
  const isMissing = error instanceof ChannelError && error.code === 'missing'
  return toGateError(
    isMissing ? new ChannelError('unavailable', error.message, { cause: error }) : error,
    channel,
  )
}
