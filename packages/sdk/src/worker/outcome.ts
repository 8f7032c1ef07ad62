// From what a handler returned or threw to what the server is told.
import type { z } from 'zod'
import { canonicalJson } from '../canonical-json.ts'
import {
  type Artifact,
  type DeliveryProof,
  NAME_LENGTH_MAX,
  SECONDS_MAX,
  SUMMARY_LENGTH_MAX,
} from '../contract/fields.ts'
import type { Content } from '../client/content.ts'
import { GateError } from '../errors.ts'
import { FatalError, RetryableError } from './errors.ts'
import type { StoredResult, TaskContext, UploadChoice } from './execution.ts'
import type { Sizes } from './inline-room.ts'
import { sha256 } from './sha256.ts'

export interface Completion {
  readonly result?: unknown
  /** The result as bytes or text of its own, of any size; `result` may be JSON beside it. */
  readonly content?: Content
  /** Media type of `content`. */
  readonly contentType?: string
  /** Where the result is kept; default what the task asks for, else by its size. */
  readonly channel?: Exclude<UploadChoice['channel'], 'http'>
  /** One line for people who read the ledger. */
  readonly summary?: string
  /** Where things were put that the result does not hold. */
  readonly artifacts?: readonly z.input<typeof Artifact>[]
  readonly deliveryProof?: z.input<typeof DeliveryProof>
  /** Figures of the execution, kept in the receipt. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Keep the result with the task, which also discharges the obligation; default true. */
  readonly storeResult?: boolean
}

const COMPLETION = Symbol('completion')

/** Return it from a handler to say more than the result. */
export function completed(completion: Completion): object {
  return { [COMPLETION]: completion }
}

/** The fields of an outcome of `settle` besides its task and lease. */
export type Outcome =
  | {
      readonly action: 'complete'
      readonly result: unknown
      readonly store_result: boolean
      readonly result_summary?: string
      readonly artifacts?: z.input<typeof Artifact>[]
      readonly delivery_proof?: z.input<typeof DeliveryProof>
      readonly completion_metadata: Record<string, unknown>
    }
  | {
      readonly action: 'fail'
      readonly error: { code: string; message: string; [fact: string]: unknown }
      readonly retryable: boolean
      readonly retry_after_seconds?: number
    }
  | { readonly action: 'release'; readonly reason: string }

/** Whoever fetches the result can tell whether it is the one that the receipt speaks of. */
export async function outcomeOf(returned: unknown, context: TaskContext, sizes: Sizes): Promise<Outcome> {
  const completion = completionOf(returned)
  const { summary, deliveryProof, storeResult = true } = completion
  const artifacts = plainJson(completion.artifacts ?? [], 'artifacts') as z.input<typeof Artifact>[] // a list stays one
  const metadata = plainJson(completion.metadata ?? {}, 'metadata') as Record<string, unknown> // an object, too
  const plain = plainJson(completion.result, 'result')
  const text = canonicalJson(plain)
  const uploads = await uploadsOf(completion, text, { context, sizes })
  const isWithTask = uploads.result === undefined
  const stored = [uploads.content, uploads.result].filter((one) => one !== undefined)
  const all = [...stored, ...artifacts]
  return {
    action: 'complete',
    result: isWithTask ? plain : null,
    // With content and nothing beside it, there is nothing to keep with the task.
    store_result: storeResult && isWithTask && (uploads.content === undefined || plain !== null),
    ...(summary !== undefined && { result_summary: summary }),
    ...((all.length > 0 || completion.artifacts) && { artifacts: all }),
    ...(deliveryProof && {
      delivery_proof: plainJson(deliveryProof, 'delivery proof') as z.input<typeof DeliveryProof>, // as it was given
    }),
    completion_metadata: { ...metadata, result_sha256: await sha256(text) },
  }
}

interface Uploads {
  readonly content?: StoredResult
  readonly result?: StoredResult
}

/** What does not go with the task goes before it: a completion then names where it is. */
async function uploadsOf(
  { content, contentType, channel: chosen, storeResult }: Completion,
  text: string,
  { context, sizes }: { readonly context: TaskContext; readonly sizes: Sizes },
): Promise<Uploads> {
  const channel = chosen ?? (context.task.result_channel as UploadChoice['channel'] | null) ?? undefined
  const choice = channel === undefined ? {} : { channel }
  if (content !== undefined) {
    const type = contentType === undefined ? {} : { contentType }
    return { content: await upload(content, { ...choice, ...type }, context) }
  }
  const isLarge = sizes.large !== null && new TextEncoder().encode(text).length > sizes.inlineBytesMax
  const leaves = channel === undefined ? isLarge : channel !== 'inline'
  if (!leaves || storeResult === false) return {}
  return { result: await upload(text, { ...choice, contentType: 'application/json' }, context) }
}

/** A refusal is of the result, not of the work: another attempt would only bring it again, unless the trouble may pass. */
async function upload(
  content: Content,
  choice: UploadChoice,
  { upload: send }: TaskContext,
): Promise<StoredResult> {
  try {
    return await send(content, choice)
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    const message = `The result could not be stored: ${error.message}`
    const options = { code: error.code, cause: error }
    throw error.retryable ? new RetryableError(message, options) : new FatalError(message, options)
  }
}

function completionOf(returned: unknown): Completion {
  const isCompletion = typeof returned === 'object' && returned !== null && COMPLETION in returned
  return isCompletion ? (returned[COMPLETION] as Completion) : { result: returned }
}

/** As it will be read back; what JSON cannot say is found here and not by a refused report. */
function plainJson(value: unknown, what: string): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null) ?? 'null')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new FatalError(`The ${what} is not JSON: ${reason}`, { code: 'result_not_json', cause })
  }
}

export function failureOf(thrown: unknown): Outcome {
  if (thrown instanceof FatalError) return failure({ ...factsOf(thrown), retryable: false })
  if (!(thrown instanceof RetryableError)) return failure({ ...unexpected(thrown), retryable: true })
  const { retryAfterSeconds = Number.NaN } = thrown
  const outcome = failure({ ...factsOf(thrown), retryable: true })
  if (Number.isNaN(retryAfterSeconds)) return outcome
  return {
    ...outcome,
    retry_after_seconds: Math.min(Math.max(0, Math.ceil(retryAfterSeconds)), SECONDS_MAX),
  }
}

/**
 * What is said instead of an outcome that the server will not take: of a completion that it failed (trying again would only
 * repeat it, unless the fault is the server's), of a failure the same with less.
 */
export function substituteFor(outcome: Outcome, refusal: Refusal): Outcome | undefined {
  if (outcome.action === 'release') return undefined
  if (outcome.action === 'fail') {
    const { code, message } = outcome.error
    return { ...outcome, error: { code, message } }
  }
  const message = `The result was refused: ${refusal.message}`
  return failure({ code: refusal.error, message, retryable: refusal.error === 'internal_error' })
}

interface Refusal {
  readonly error: string
  readonly message: string
}

function factsOf({ code, message, details }: FatalError | RetryableError) {
  return { code, message, details: plainJson(details, 'details') as Record<string, unknown> }
}

function unexpected(thrown: unknown) {
  if (!(thrown instanceof Error)) return { code: 'Error', message: String(thrown) }
  return { code: thrown.name || 'Error', message: thrown.message }
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly details?: Record<string, unknown>
}

/** Within the contract's bounds whatever was thrown: a failure that is refused would be lost. */
function failure({ code, message, retryable, details = {} }: Failure): Extract<Outcome, { action: 'fail' }> {
  const error = {
    ...details,
    code: sayable(code, NAME_LENGTH_MAX) || 'Error',
    message: sayable(message, SUMMARY_LENGTH_MAX),
  }
  return { action: 'fail', error, retryable }
}

function sayable(text: string, lengthMax: number): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, lengthMax).toWellFormed()
}
