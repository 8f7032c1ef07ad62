// Copies a result to a channel where it is to be kept, and records the copy.
import { GateError } from '@asyncgate/sdk'
import { measure } from '../channel/content.ts'
import type { StoredResult } from '../store/results.ts'
import { HALFWAY_MS_MAX } from './collect.ts'
import type { Located } from './locate.ts'
import { openResult } from './open.ts'
import { type ResultParts, toPutError } from './parts.ts'

export interface Archived {
  readonly copy: StoredResult
  readonly isDuplicate: boolean
}

export async function archiveResult(
  { located, channelName, signal }: { located: Located; channelName: string; signal: AbortSignal },
  parts: ResultParts,
): Promise<Archived> {
  const { store, channels, clock, ids } = parts
  const { tenantId, taskId } = located
  const channel = channels.find(channelName)
  if (channel === undefined) throw notConfigured(channelName)
  const before = await store.listArchives(tenantId, taskId)
  const same = before.find(
    (one) => one.channel === channelName && one.measure?.sha256 === located.expected.sha256,
  )
  if (same !== undefined) return { copy: same, isDuplicate: true }
  const opened = await openResult(located, signal, parts)
  const content = measure(opened.content, { bytesMax: channels.bytesMax })
  const contentType = located.contentType ?? 'application/octet-stream'
  const id = { tenantId, taskId, resultId: ids.next() }
  const createdAt = clock.now()
  const facts = {
    ...id,
    kind: 'archive',
    leaseId: null,
    channel: channelName,
    contentType,
    createdAt,
  } as const
  const announce = (pointer: string) =>
    store.addResult({ ...facts, pointer, measure: null, checkAt: createdAt + HALFWAY_MS_MAX })
  const parcel = { ...id, contentType, bytes: located.expected.bytes, targetUrl: null, content }
  const pointer = await channel
    .put(parcel, announce)
    .catch((error) => {
      throw toPutError(error, channelName)
    })
    .finally(opened.close)
  const measured = content.measured()
  await store.finishResult({ ...id, measure: measured, checkAt: null })
  return { copy: { ...facts, pointer, measure: measured, checkAt: null }, isDuplicate: false }
}

function notConfigured(name: string): GateError {
  const message = `Field "channel": ${name} is not configured on this server. Set channels.${name}_… or use another.`
  return new GateError('invalid_input', message, {
    field: 'channel',
    issues: [{ field: 'channel', message }],
  })
}
