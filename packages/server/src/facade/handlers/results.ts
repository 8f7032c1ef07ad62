// Handlers of results that are kept in channels.
import { GateError, type GateContract, type Output, type Parsed } from '@asyncgate/sdk'
import { iso } from '../../clock.ts'
import { mayTouch, noSuchTask } from '../../engine/decide/context.ts'
import { archiveResult } from '../../result/archive.ts'
import { type Located, locate } from '../../result/locate.ts'
import { openResult } from '../../result/open.ts'
import { PARTED_BYTES_MAX, readPart } from '../../result/part.ts'
import { type Putting, putResult } from '../../result/put.ts'
import type { StoredResult } from '../../store/results.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { holding } from './lease-command.ts'
import { actorOf, type HandlerParts, orNull } from './parts.ts'

type ResultHandlers = Pick<Handlers, 'putTaskResult' | 'fetchTaskResult' | 'archiveTaskResult'>
type FetchReply = Output<GateContract['fetchTaskResult']>
type PutInput = Parsed<GateContract['putTaskResult']>

export function resultHandlers(parts: HandlerParts): ResultHandlers {
  const { store } = parts

  async function located(
    { task_id, pointer }: { task_id: string; pointer?: string | undefined },
    context: CallContext,
  ): Promise<Located> {
    const { tenantId } = context.caller
    const task = await store.readTask(tenantId, task_id)
    if (task === null || !mayTouch(task, actorOf(context))) throw noSuchTask(task_id)
    return locate({ task, tenantId, pointer: orNull(pointer) }, parts)
  }

  return {
    putTaskResult: async (input, context) => {
      const { channel, target_url } = input
      if ((channel === 'http') !== (target_url !== undefined)) throw targetAlone()
      const stored = await putResult(
        {
          tenantId: context.caller.tenantId,
          holding: holding(input, context.acting),
          channel: orNull(channel),
          targetUrl: orNull(target_url),
          contentType: input.content_type ?? 'application/octet-stream',
          ...contentOf(input, context),
        },
        parts,
      )
      return storedToWire(stored)
    },
    fetchTaskResult: async (input, context) => {
      const found = await located(input, context)
      const facts = await factsOf(found, parts)
      if (!found.isReachable) return facts
      const tooLarge = (found.expected.bytes ?? 0) > PARTED_BYTES_MAX
      if (context.deliver === undefined && tooLarge) return facts
      const opened = await openResult(found, context.signal, parts)
      if (context.deliver !== undefined) {
        await context.deliver(opened).finally(opened.close)
        return { ...facts, verified: found.expected.sha256 !== null }
      }
      const { offset, max_bytes } = input
      const part = await readPart(opened, { offset, maxBytes: max_bytes }).finally(opened.close)
      const { whole, content, encoding, nextOffset } = part
      return {
        ...facts,
        ...whole,
        verified: found.expected.sha256 !== null,
        offset,
        next_offset: nextOffset,
        ...('json' in part ? { result: part.json } : { content, encoding }),
      }
    },
    archiveTaskResult: async (input, context) => {
      const found = await located(input, context)
      const { signal } = context
      const { copy, isDuplicate } = await archiveResult(
        { located: found, channelName: input.channel, signal },
        parts,
      )
      return { ...archiveToWire(copy), is_duplicate: isDuplicate }
    },
  }
}

/** All but the content. */
async function factsOf(found: Located, { store }: HandlerParts): Promise<FetchReply> {
  const { tenantId, taskId, pointer, channel, contentType, expected, held } = found
  return {
    task_id: taskId,
    pointer,
    channel,
    content_type: contentType,
    bytes: held?.length ?? expected.bytes,
    sha256: expected.sha256,
    verified: false,
    content: null,
    encoding: null,
    offset: 0,
    next_offset: null,
    download: found.isReachable ? downloadPath(taskId, pointer) : null,
    archives: (await store.listArchives(tenantId, taskId)).map(archiveToWire),
  }
}

/** A pointer that holds the content would make no path. */
const POINTER_IN_PATH_MAX = 500

function downloadPath(taskId: string, pointer: string): string {
  const path = `/v1/tasks/${taskId}/result/content`
  return pointer.length <= POINTER_IN_PATH_MAX ? `${path}?pointer=${encodeURIComponent(pointer)}` : path
}

/** What was sent besides the call (a stream), or within it. */
function contentOf(input: PutInput, { upload }: CallContext): Pick<Putting, 'content' | 'bytes'> {
  if (upload !== undefined) return upload
  const { content, encoding } = input
  if (content === undefined) throw invalid('content', 'it is required')
  const bytes = Buffer.from(content, encoding)
  if (encoding === 'base64' && bytes.toString('base64') !== content)
    throw invalid('content', 'it is not base64 (with padding, without line breaks)')
  return { content: once(bytes), bytes: bytes.length }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield bytes
}

function invalid(field: string, reason: string): GateError {
  const message = `Field "${field}": ${reason}.`
  return new GateError('invalid_input', message, { field, issues: [{ field, message }] })
}

function targetAlone(): GateError {
  return invalid('target_url', 'the channel http needs it, and no other channel takes it')
}

function storedToWire({ pointer, channel, contentType, measure }: StoredResult) {
  return { pointer, channel, content_type: contentType, ...measure! } // measured: it is there whole
}

function archiveToWire(copy: StoredResult) {
  return { ...storedToWire(copy), archived_at: iso(copy.createdAt) }
}
