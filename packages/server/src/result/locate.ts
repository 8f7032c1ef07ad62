// Where the result of a task is: with the task itself, in a channel of ours that its execution put it in, at a public URL, or
// with somebody else. What no receipt names is no result, unless it is a copy of one.
import { canonicalJson, GateError } from '@asyncgate/sdk'
import { channelOf, type Measure, shortened } from '../channel/port.ts'
import { hashOfJson, storedPointer } from '../engine/ledger.ts'
import type { JsonObject, Receipt } from '../engine/model.ts'
import type { TaskView } from '../store/port.ts'
import type { ResultParts } from './parts.ts'

export interface Located {
  readonly taskId: string
  readonly tenantId: string
  readonly pointer: string
  readonly channel: string
  readonly contentType: string | null
  /** What it must measure, as far as that is known. */
  readonly expected: { readonly sha256: string | null; readonly bytes: number | null }
  /** The result itself, where it is with the task. */
  readonly held?: Buffer
  /** False for what a store that is not ours keeps. */
  readonly isReachable: boolean
}

export async function locate(
  { task, tenantId, pointer }: { task: TaskView; tenantId: string; pointer: string | null },
  parts: ResultParts,
): Promise<Located> {
  const { definition, state } = task
  if (state.status !== 'succeeded') throw notSucceeded(state.status)
  const receipts = await receiptsOf(task, tenantId, parts)
  const { taskId } = definition
  const own = storedPointer(taskId)
  const artifacts = artifactsOf(receipts.discharging ?? receipts.terminal)
  const wanted = pointer ?? defaultPointer({ own, artifacts, task }, parts)
  if (wanted === own) return heldResult(task, tenantId, receipts.terminal)
  const here = { taskId, tenantId, pointer: wanted, channel: channelOf(wanted) }
  const artifact = artifacts.find((one) => one.pointer === wanted)
  const { leaseId } = receipts.terminal
  const stored = (await parts.store.resultsAt(here)).find(
    (one) =>
      one.measure !== null && (one.kind === 'archive' || (artifact !== undefined && one.leaseId === leaseId)),
  )
  if (stored !== undefined)
    return { ...here, contentType: stored.contentType, expected: stored.measure!, isReachable: true }
  if (artifact === undefined) throw notNamed(wanted)
  const stated = statedOf(artifact)
  if (here.channel === 'http' && parts.channels.find('http') !== undefined)
    return { ...here, ...stated, isReachable: true }
  // Ours by its name, and nobody put it there under the lease that completed the task.
  if (parts.channels.find(here.channel) !== undefined) throw neverPut(wanted)
  return { ...here, ...stated, isReachable: false }
}

interface Receipts {
  readonly terminal: Receipt
  /** Also one that attach_artifacts added later; null while the obligation is open. */
  readonly discharging: Receipt | null
}

async function receiptsOf(task: TaskView, tenantId: string, { store }: ResultParts): Promise<Receipts> {
  const terminalId = task.state.terminalReceiptId! // of every task that has ended
  const dischargingId = await store.dischargedBy(tenantId, task.definition.assignedReceiptId)
  const found = await store.readReceipts(tenantId, [...new Set([terminalId, dischargingId ?? terminalId])])
  const byId = (id: string) => found.find(({ receipt }) => receipt.receiptId === id)?.receipt
  return { terminal: byId(terminalId)!, discharging: (dischargingId && byId(dischargingId)) || null }
}

export function artifactsOf({ body }: Receipt): readonly (JsonObject & { readonly pointer: string })[] {
  const artifacts = Array.isArray(body.artifacts) ? (body.artifacts as JsonObject[]) : [] // parsed when they came in
  return artifacts.filter((one): one is JsonObject & { pointer: string } => typeof one.pointer === 'string')
}

/** The result that is with the task, if it was stored there; else the first that can be reached. */
function defaultPointer(
  { own, artifacts, task }: { own: string; artifacts: ReturnType<typeof artifactsOf>; task: TaskView },
  { channels }: ResultParts,
): string {
  const pointers = artifacts.map(({ pointer }) => pointer)
  if (pointers.includes(own)) return own
  const reachable = pointers.find((pointer) => channels.find(channelOf(pointer)) !== undefined)
  if (reachable !== undefined) return reachable
  const isWithTask = (task.state.result?.result ?? null) !== null
  return isWithTask ? own : (pointers[0] ?? own)
}

/** Verified by what the receipt says, which nobody can change: the result itself, or the checksum that its worker or the server took. */
function heldResult(task: TaskView, tenantId: string, { body }: Receipt): Located {
  const { taskId } = task.definition
  const held = Buffer.from(canonicalJson(task.state.result?.result ?? null))
  const metadata = body.completion_metadata as { result_sha256?: unknown } | undefined // an object, by the contract
  const sumIn = (sha256: unknown) => statedOf({ sha256 }).expected.sha256
  const taken = sumIn(metadata?.result_sha256) ?? sumIn(body.result_sha256)
  const sha256 = 'result_payload' in body ? hashOfJson(body.result_payload) : taken
  return {
    taskId,
    tenantId,
    pointer: storedPointer(taskId),
    channel: 'inline',
    contentType: 'application/json',
    expected: { sha256, bytes: null },
    held,
    isReachable: true,
  }
}

/** What the worker said of something that it put elsewhere itself, as far as it makes sense. */
function statedOf({
  sha256,
  bytes,
  content_type: type,
}: JsonObject): Pick<Located, 'contentType' | 'expected'> {
  const isHex = typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)
  const isCount = typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0
  const isType = typeof type === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(type)
  return {
    contentType: isType ? type : null,
    expected: { sha256: isHex ? sha256.toLowerCase() : null, bytes: isCount ? bytes : null },
  }
}

export function isExpected({ expected }: Located, found: Measure): boolean {
  return (
    (expected.sha256 === null || expected.sha256 === found.sha256) &&
    (expected.bytes === null || expected.bytes === found.bytes)
  )
}

function notSucceeded(status: string): GateError {
  const message =
    `The task is ${status}: only one that has succeeded has a result. Wait for it with get_task and wait_seconds, ` +
    'or read there how it ended.'
  return new GateError('invalid_transition', message, { task_status: status })
}

function notNamed(pointer: string): GateError {
  const message = `The task names no ${shortened(pointer)} among its artifacts. Leave pointer out, or look at get_task.`
  return new GateError('not_found', message)
}

function neverPut(pointer: string): GateError {
  const message =
    `Nothing was put at ${shortened(pointer)} under the lease that completed the task. ` +
    'Workers put a result with put_task_result, then complete under the same lease.'
  return new GateError('not_found', message)
}
