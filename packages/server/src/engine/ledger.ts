// The ledger's rules: what a receipt is, what it may carry, which types discharge which.
import { hash as digest } from 'node:crypto'
import { canonicalJson, GateError } from '@asyncgate/sdk'
import type { JsonObject, Principal, Receipt } from './model.ts'
import type { Policy } from './policy.ts'

/** Obligation type → the types that discharge it. Nothing else does. */
export const DISCHARGED_BY: Readonly<Record<string, readonly string[]>> = {
  'task.assigned': ['task.completed', 'task.failed', 'task.canceled'],
  'schedule.created': ['schedule.deleted'],
}

const NOTHING: readonly string[] = []

/** The same the other way round. */
const DISCHARGES = new Map<string, readonly string[]>()
for (const [opened, terminals] of Object.entries(DISCHARGED_BY)) {
  for (const terminal of terminals)
    DISCHARGES.set(terminal, [...(DISCHARGES.get(terminal) ?? NOTHING), opened])
}

export function opensObligation(receiptType: string): boolean {
  return Object.hasOwn(DISCHARGED_BY, receiptType)
}

export function isTerminalType(receiptType: string): boolean {
  return DISCHARGES.has(receiptType)
}

/** The types of obligations that one of this type discharges. */
export function dischargedTypes(receiptType: string): readonly string[] {
  return DISCHARGES.get(receiptType) ?? NOTHING
}

export function discharges(receiptType: string, obligationType: string): boolean {
  return dischargedTypes(receiptType).includes(obligationType)
}

const LOCATORS = ['url', 'uri', 'pointer', 'path', 'key', 'row_id', 'file_id']

export function isLocated(artifacts: readonly JsonObject[], deliveryProof: JsonObject | null): boolean {
  return deliveryProof !== null || artifacts.some(hasLocator)
}

export function hasLocator(artifact: JsonObject): boolean {
  return LOCATORS.some((locator) => {
    const value = artifact[locator]
    return (typeof value === 'string' && value !== '') || typeof value === 'number'
  })
}

/** Where a result is that is kept with its task. */
export const storedPointer = (taskId: string) => `asyncgate:result/${taskId}`

export const storedArtifact = (taskId: string) => ({ pointer: storedPointer(taskId), type: 'asyncgate' })

export interface Fact {
  readonly receiptType: string
  readonly from: Principal
  readonly to: Principal
  readonly taskId: string | null
  readonly leaseId: string | null
  readonly scheduleId: string | null
  readonly parents: readonly string[]
  readonly body: JsonObject
}

export function sha256(text: string): string {
  return digest('sha256', text, 'hex')
}

export function hashOfJson(value: unknown): string {
  return sha256(canonicalJson(value))
}

/**
 * Exactly what the specification names, so that anyone can recompute it from the receipt alone. The members are written in
 * the order of canonical JSON, body first, so that only the body needs ordering: 2.5 to 4.5 µs, against 3.3 to 4.7 µs through hashOfJson.
 */
export function receiptHash(fact: Fact, body: string = canonicalJson(fact.body)): string {
  const others = JSON.stringify({
    from: { id: fact.from.id, kind: fact.from.kind },
    lease_id: fact.leaseId,
    parents: sorted(fact.parents),
    receipt_type: fact.receiptType,
    schedule_id: fact.scheduleId,
    task_id: fact.taskId,
    to: { id: fact.to.id, kind: fact.to.kind },
  })
  return sha256(`{"body":${body},${others.slice(1)}`)
}

/** The same fact has the same key: emitted twice, it is one receipt. A list of texts is canonical as it is. */
export function receiptKey(fact: Fact, hash: string): string {
  return sha256(
    JSON.stringify([
      fact.receiptType,
      fact.taskId,
      fact.from.kind,
      fact.from.id,
      fact.leaseId,
      fact.scheduleId,
      sorted(fact.parents),
      distinction(fact, hash),
    ]),
  )
}

/**
 * What a change of state records happens once by itself. What principals and sweeps record could come twice: such a receipt
 * is looked up by its key.
 */
export function isRepeatable(receiptType: string): boolean {
  return !receiptType.startsWith('task.')
}

/** Most receipts have one parent or none. */
function sorted(parents: readonly string[]): readonly string[] {
  return parents.length > 1 ? parents.toSorted() : parents
}

/** State transitions happen once by themselves; anomalies and submitted receipts need more to be told apart. */
function distinction(fact: Fact, hash: string): string | null {
  if (fact.receiptType === 'system.anomaly') return String(fact.body['kind'])
  return isSubmittedType(fact.receiptType) ? hash : null
}

export function isSubmittedType(receiptType: string): boolean {
  return receiptType.startsWith('x.') || receiptType.startsWith('schedule.')
}

/** Bodies that every task leaves are written with their members in the order of canonical JSON, which spares a copy of each. */
export const SCHEMA_VERSION = '1'

export function bodyOf(members: JsonObject): JsonObject {
  return { schema_version: SCHEMA_VERSION, ...members }
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

export function fits(body: JsonObject, policy: Policy): boolean {
  const { maxBodyBytes } = policy.receipts
  return surelyFits(body, maxBodyBytes) || jsonBytes(body) <= maxBodyBytes
}

/** Whether its JSON cannot be longer. If it may, it need not be; but that settles it for nearly every body. */
export function surelyFits(value: unknown, bytesMax: number): boolean {
  return leftOf(bytesMax, value) >= 0
}

export function assertWithinLimits(
  fact: Pick<Fact, 'parents' | 'body'>,
  policy: Policy,
  bodyBytes: number = jsonBytes(fact.body),
): void {
  const { maxBodyBytes, maxParents, maxArtifacts } = policy.receipts
  if (bodyBytes > maxBodyBytes) {
    throw tooLarge(`The body has ${bodyBytes} bytes, the limit is ${maxBodyBytes}.`)
  }
  if (fact.parents.length > maxParents) {
    throw tooLarge(`There are ${fact.parents.length} parents, the limit is ${maxParents}.`)
  }
  const artifacts = fact.body['artifacts']
  if (Array.isArray(artifacts) && artifacts.length > maxArtifacts) {
    throw tooLarge(`There are ${artifacts.length} artifacts, the limit is ${maxArtifacts}.`)
  }
}

/** A control character is written with six, and no other takes as many bytes. */
const BYTES_PER_CHARACTER_MAX = 6
/** "-1.2345678901234567e-300" */
const BYTES_PER_NUMBER_MAX = 24

/**
 * What is left of so many bytes when the value has taken the most that its JSON could: negative means perhaps too long, and
 * zero or more that it surely fits, in a third of the time that writing it down takes.
 */
function leftOf(bytes: number, value: unknown): number {
  if (typeof value === 'string') return bytes - 2 - value.length * BYTES_PER_CHARACTER_MAX
  if (typeof value !== 'object' || value === null) return bytes - BYTES_PER_NUMBER_MAX
  let left = bytes - 2
  if (Array.isArray(value)) {
    for (const member of value) if ((left = leftOf(left - 1, member)) < 0) return left
    return left
  }
  for (const key of Object.keys(value)) {
    left = leftOf(leftOf(left - 2, key), (value as JsonObject)[key])
    if (left < 0) return left
  }
  return left
}

function tooLarge(fact: string): GateError {
  return new GateError(
    'receipt_too_large',
    `Receipt bodies are contracts, not chat messages. ${fact} Keep large content elsewhere and point to it.`,
  )
}

export function issueReceipt(
  fact: Fact,
  at: { receiptId: string; tenantId: string; now: number; instance: string },
): Receipt {
  const body = canonicalJson(fact.body)
  const hash = receiptHash(fact, body)
  return {
    receiptId: at.receiptId,
    tenantId: at.tenantId,
    createdAt: at.now,
    instance: at.instance,
    hash,
    receiptType: fact.receiptType,
    from: fact.from,
    to: fact.to,
    body: fact.body,
    bodyBytes: Buffer.byteLength(body),
    taskId: fact.taskId,
    leaseId: fact.leaseId,
    scheduleId: fact.scheduleId,
    parents: fact.parents,
  }
}
