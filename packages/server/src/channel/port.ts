// The port of result channels: places that keep what is too large for a task, or that somebody wants kept elsewhere. A pointer
// is opaque to everybody but its channel: `channel:data`.

export const CHANNEL_NAMES = ['inline', 'blob', 'file', 's3', 'http'] as const
export type ChannelName = (typeof CHANNEL_NAMES)[number]

/** Whose content it is: every channel keeps the tenants and their tasks apart. */
export interface Shelf {
  readonly tenantId: string
  readonly taskId: string
}

/** One result on its way in. */
export interface Parcel extends Shelf {
  /** Of this one result: makes its place its own. */
  readonly resultId: string
  readonly contentType: string
  /** Where the sender knows it. */
  readonly bytes: number | null
  /** Where the worker wants it, for channels that are told where. */
  readonly targetUrl: string | null
  readonly content: Content
}

/** Bytes that are read once; what they were is known afterwards. */
export interface Content extends AsyncIterable<Buffer> {
  measured(): Measure
}

export interface Measure {
  readonly bytes: number
  readonly sha256: string
}

export interface Placed extends Shelf {
  readonly pointer: string
}

export interface Capabilities {
  readonly max_size_bytes: number | null
  readonly supports_attachments: boolean
  readonly supports_streaming: boolean
  /** How long it is kept; null: until it is acknowledged. */
  readonly retention_days: number | null
  readonly human_readable: boolean
}

/** Of a place that takes anything and keeps it until it is told otherwise. */
export const KEEPS_ANYTHING: Capabilities = {
  max_size_bytes: null,
  supports_attachments: true,
  supports_streaming: true,
  retention_days: null,
  human_readable: false,
}

export interface Channel {
  readonly name: ChannelName
  /**
   * Resolves with the pointer when the content is there for good. `announce` is awaited before anything stands at the pointer,
   * so that whatever a crash leaves behind is known by name.
   */
  put(parcel: Parcel, announce: (pointer: string) => Promise<void>): Promise<string>
  /** The content as it is kept, unchecked. Throws `ChannelError`. */
  get(placed: Placed, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** Nobody needs it any more: the channel lets go of it. What is gone already is no error. */
  ack(placed: Placed): Promise<void>
  capabilities(): Capabilities
  /** Whether it could be used now; throws what is wrong. */
  check(): Promise<void>
  /** Removes what uploads left halfway before that time; how many they were. */
  tidy?(before: number): Promise<number>
}

/**
 * - `missing`: there is nothing at the pointer.
 * - `refused`: a pointer or an address that the channel does not follow.
 * - `too_large`: more than the channel takes.
 * - `unavailable`: the store behind it does not answer, or not as it should; a retry may help.
 */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly code: 'missing' | 'refused' | 'too_large' | 'unavailable'

  constructor(code: ChannelError['code'], message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.code = code
  }
}

/** What stands before the first colon: a channel of ours, or of somebody else. */
export function channelOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.indexOf(':')))
}

export function dataOf(name: ChannelName, pointer: string): string {
  if (channelOf(pointer) === name) return pointer.slice(name.length + 1)
  throw new ChannelError('refused', `${shortened(pointer)} is not a pointer of the channel ${name}.`)
}

const POINTER_SHOWN_MAX = 100

/** A pointer may hold the content itself. */
export function shortened(pointer: string): string {
  return pointer.length <= POINTER_SHOWN_MAX ? pointer : `${pointer.slice(0, POINTER_SHOWN_MAX)}…`
}
