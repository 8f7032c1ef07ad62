// How a task ended and a worker's last word on it, as the row of an ended task keeps them: without what its other columns say.
// Of a plain completion, that is a third of the bytes. Rows that were written before say all of it themselves.
import { storedArtifact } from '../../engine/ledger.ts'
import type { Json, JsonObject, Settlement, TaskResult, TerminalStatus } from '../../engine/model.ts'

interface Said {
  result?: Json
  error?: Json
  artifacts?: readonly JsonObject[]
  /** The one artifact is the result that is kept with the task. */
  isStored?: true
  deliveryProof?: JsonObject
}

export function resultToRow(result: TaskResult, taskId: string): Said {
  const said: Said = {}
  if (result.result !== null) said.result = result.result
  if (result.error !== null) said.error = result.error
  if (isStoredAlone(result.artifacts, taskId)) said.isStored = true
  else if (result.artifacts.length > 0) said.artifacts = result.artifacts
  if (result.deliveryProof !== null) said.deliveryProof = result.deliveryProof
  return said
}

function isStoredAlone([artifact, ...others]: readonly JsonObject[], taskId: string): boolean {
  if (artifact === undefined || others.length > 0) return false
  const stored: JsonObject = storedArtifact(taskId)
  const names = Object.keys(artifact)
  return names.length === Object.keys(stored).length && names.every((name) => artifact[name] === stored[name])
}

interface ResultRow {
  readonly task_id: string
  readonly status: TerminalStatus
  readonly completed_at: number
  readonly result: string
}

export function resultFromRow(row: ResultRow): TaskResult {
  const { isStored, ...said } = JSON.parse(row.result) as Said // written by `resultToRow`
  return {
    outcome: row.status,
    result: null,
    error: null,
    artifacts: isStored ? [storedArtifact(row.task_id)] : [],
    deliveryProof: null,
    completedAt: row.completed_at,
    ...said,
  }
}

/** What the row of an ended task says of its last word anyhow. */
interface EndedFacts {
  readonly status: string
  readonly terminalReceiptId: string | null
}

export function lastWordToRow(settlement: Settlement, { status, terminalReceiptId }: EndedFacts): JsonObject {
  const { action, requestHash, reply, receiptId } = settlement
  const isPlain =
    receiptId === terminalReceiptId &&
    reply['status'] === status &&
    reply['receiptId'] === terminalReceiptId &&
    Object.keys(reply).length === 2
  return isPlain ? { action, requestHash } : { action, requestHash, reply, receiptId }
}

export function lastWordFromRow(text: string, { status, terminalReceiptId }: EndedFacts): Settlement {
  const said = JSON.parse(text) as Pick<Settlement, 'action' | 'requestHash'> & Partial<Settlement> // written above
  return { reply: { status, receiptId: terminalReceiptId }, receiptId: terminalReceiptId, ...said }
}
