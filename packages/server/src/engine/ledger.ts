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

const DISCHARGING = new Set(Object.values(DISCHARGED_BY).flat())

export function opensObligation(receiptType: string): boolean {
  return Object.hasOwn(DISCHARGED_BY, receiptType)
}

export function isTerminalType(receiptType: string): boolean {
  return DISCHARGING.has(receiptType)
}

export function discharges(receiptType: string, obligationType: string): boolean {
  return opensObligation(obligationType) && DISCHARGED_BY[obligationType]!.includes(receiptType)
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

/** Exactly what the specification names, so that anyone can recompute it from the receipt alone. */
export function receiptHash(fact: Fact): string {
  return hashOfJson({
    receipt_type: fact.receiptType,
    from: { kind: fact.from.kind, id: fact.from.id },
    to: { kind: fact.to.kind, id: fact.to.id },
    task_id: fact.taskId,
    lease_id: fact.leaseId,
    schedule_id: fact.scheduleId,
    parents: fact.parents.toSorted(),
    body: fact.body,
  })
}

/** The same fact has the same key: emitted twice, it is one receipt. */
export function receiptKey(fact: Fact, hash: string): string {
  return hashOfJson([
    fact.receiptType,
    fact.taskId,
    fact.from.kind,
    fact.from.id,
    fact.leaseId,
    fact.scheduleId,
    fact.parents.toSorted(),
    distinction(fact, hash),
  ])
}

/** State transitions happen once by themselves; anomalies and submitted receipts need more to be told apart. */
function distinction(fact: Fact, hash: string): string | null {
  if (fact.receiptType === 'system.anomaly') return String(fact.body['kind'])
  return isSubmittedType(fact.receiptType) ? hash : null
}

export function isSubmittedType(receiptType: string): boolean {
  return receiptType.startsWith('x.') || receiptType.startsWith('schedule.')
}

export function bodyOf(members: JsonObject): JsonObject {
  return { schema_version: '1', ...members }
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

export function fits(body: JsonObject, policy: Policy): boolean {
  return jsonBytes(body) <= policy.receipts.maxBodyBytes
}

export function assertWithinLimits(fact: Pick<Fact, 'parents' | 'body'>, policy: Policy): void {
  const { maxBodyBytes, maxParents, maxArtifacts } = policy.receipts
  const bytes = jsonBytes(fact.body)
  if (bytes > maxBodyBytes) throw tooLarge(`The body has ${bytes} bytes, the limit is ${maxBodyBytes}.`)
  if (fact.parents.length > maxParents) {
    throw tooLarge(`There are ${fact.parents.length} parents, the limit is ${maxParents}.`)
  }
  const artifacts = fact.body['artifacts']
  if (Array.isArray(artifacts) && artifacts.length > maxArtifacts) {
    throw tooLarge(`There are ${artifacts.length} artifacts, the limit is ${maxArtifacts}.`)
  }
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
  const hash = receiptHash(fact)
  return {
    receiptId: at.receiptId,
    tenantId: at.tenantId,
    createdAt: at.now,
    instance: at.instance,
    hash,
    receiptKey: receiptKey(fact, hash),
    ...fact,
  }
}
