// Fields and shapes that several operations share. Every limit has a name and a reason.
import { z } from 'zod'

/** Names travel in indexes and headers; 200 characters is more than any sane one. */
export const NAME_LENGTH_MAX = 200
/** A key may be derived from several names. */
export const KEY_LENGTH_MAX = 500
export const SUMMARY_LENGTH_MAX = 2_000
export const LIST_ENTRIES_MAX = 100
/** One call's worth of work: keeps a commit short. */
export const BATCH_MAX = 1_000
export const DEPENDENCIES_MAX = 100
/** The configuration limits what a receipt names, in its own words; this only keeps nonsense from being read item by item. */
export const NAMED_MAX = 10_000
/** Ten years: beyond it a delay is a mistake. */
export const SECONDS_MAX = 315_360_000
export const INT_MAX = 2_147_483_647

export const PRINCIPAL_KINDS = ['agent', 'worker', 'service', 'human', 'system'] as const
export const TASK_STATUSES = ['queued', 'leased', 'running', 'succeeded', 'failed', 'canceled'] as const

const name = (what: string) => z.string().min(1).max(NAME_LENGTH_MAX).describe(what)
const id = (what: string) => z.uuid().toLowerCase().describe(what)
const seconds = (what: string, min = 0) => z.int().min(min).max(SECONDS_MAX).describe(what)
/** An offset can lead out of the years that a timestamp can write down. What is no time at all is refused before. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
const isWritable = (at: string) => !(Date.parse(at) < FIRST_MS || Date.parse(at) > LAST_MS)
const instant = (what: string) =>
  z.iso
    .datetime({ offset: true })
    .refine(isWritable, 'it must lie in the years 0000 to 9999 of UTC')
    .describe(what)
const json = (what: string) => z.unknown().describe(what)
const object = (what: string) => z.record(z.string(), z.unknown()).describe(what)

export const field = { name, id, seconds, instant, json, object }

/** Principals that a caller may name; `system` is AsyncGate itself and nobody else. */
export const NamedPrincipal = z.strictObject({
  principal_kind: z.enum(['agent', 'worker', 'service', 'human']).describe('Kind of principal.'),
  principal_id: name('Id of the principal, unique within its kind.'),
})

/** Who the call is made for, where the credential may speak for more than one principal. */
export const actingAs = {
  principal_kind: z
    .enum(['agent', 'worker', 'service', 'human'])
    .optional()
    .describe('Act as a principal of this kind (admin keys and development mode; default agent).'),
  principal_id: name(
    'Act as this principal (admin keys and development mode; default "default").',
  ).optional(),
  principal_instance_id: name('Session or process of the principal, to tell its sessions apart.').optional(),
}

export const asWorker = {
  worker_id: name('Your stable worker id, e.g. "indexer-1".'),
  worker_kind: z
    .enum(['worker', 'service'])
    .optional()
    .describe('Kind of principal the worker is; default worker.'),
  principal_instance_id: actingAs.principal_instance_id,
}

export const taskId = { task_id: id('The task.') }
export const holdingLease = {
  ...asWorker,
  ...taskId,
  lease_id: id('The lease that you were granted with the task.'),
}

/** What is kept of a result: where, and what it measures. */
export const StoredResult = z.object({
  pointer: z.string().describe('Where it is kept: opaque, channel:data.'),
  channel: z.string(),
  content_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
})

/** Lists: the bounds come from the configuration, which answers out-of-range limits with the real maximum. */
export const page = {
  limit: z.int().min(1).optional().describe('Page size; default 50, at most 200.'),
  cursor: z.string().min(1).max(1_000).optional().describe('The cursor of the previous page, unchanged.'),
}

export const Artifact = z
  .record(z.string(), z.unknown())
  .describe(
    'Where a result is: any object; a locator is one of url, uri, pointer, path, key, row_id, file_id.',
  )
export const artifacts = z
  .array(Artifact)
  .max(NAMED_MAX)
  .describe('Pointers to what was produced, at most 100.')

/** Any JSON, but not nothing: zod takes a missing member for an unknown one. */
const given = z.unknown().refine((value) => value !== undefined, 'it is required')

export const DeliveryProof = z
  .strictObject({
    mode: z.string().min(1).max(NAME_LENGTH_MAX),
    target: given,
    status: z.string().min(1).max(NAME_LENGTH_MAX),
    at: z.iso.datetime({ offset: true }),
    proof: given,
  })
  .describe('Evidence that the result was pushed: {mode, target, status, at, proof}.')

export const Principal = z.object({ kind: z.enum(PRINCIPAL_KINDS), id: z.string() })
export const PrincipalRef = z.object({ principal_kind: z.enum(PRINCIPAL_KINDS), principal_id: z.string() })
export const timestamp = z.iso.datetime()
