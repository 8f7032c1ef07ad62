// Which channel a result goes to (CHAN-1): the worker's choice, else the task's, else by its size.
import { GateError } from '@asyncgate/sdk'
import { peek } from '../channel/content.ts'
import type { Channels } from '../channel/open.ts'
import type { Channel } from '../channel/port.ts'
import type { TaskDefinition } from '../engine/model.ts'

/**
 * What the task asks for: `channel` of its `result_delivery`, where the default of its type was written when the task was created. A name that is not configured here is passed over, since the contract may mean somebody else.
 */
export function channelOfTask({ resultDelivery }: TaskDefinition, channels: Channels): string | null {
  const wanted = (resultDelivery as { channel?: unknown } | null)?.channel // whatever it is, it may have such a member
  const isOurs = typeof wanted === 'string' && wanted !== 'http' && channels.find(wanted) !== undefined
  return isOurs ? wanted : null
}

export interface Choice {
  readonly channel: Channel
  readonly content: AsyncIterable<Uint8Array>
}

export async function choose(
  wanted: string | null,
  content: AsyncIterable<Uint8Array>,
  channels: Channels,
): Promise<Choice> {
  if (wanted !== null) return { channel: configured(wanted, channels), content }
  const { isAll, content: again } = await peek(content, channels.inlineBytesMax)
  if (!isAll && channels.large === null) throw noPlace(channels.inlineBytesMax)
  return { channel: configured(isAll ? 'inline' : channels.large!, channels), content: again }
}

function configured(name: string, channels: Channels): Channel {
  const channel = channels.find(name)
  if (channel !== undefined) return channel
  const names = channels.all.map((one) => one.name).join(', ')
  const message = `Field "channel": ${name} is not configured on this server. Use one of ${names}, or leave it out.`
  throw new GateError('invalid_input', message, { field: 'channel', issues: [{ field: 'channel', message }] })
}

function noPlace(limit: number): GateError {
  const message =
    `This server keeps no results of more than ${limit} bytes. Set channels.blob_path to a folder that all servers share, ` +
    'or channels.s3_bucket with channels.default: s3.'
  return new GateError('payload_too_large', message, { limit })
}
