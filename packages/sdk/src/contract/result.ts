// Operations on results that are too large for a task, or wanted elsewhere: put, fetch, archive.
import { z } from 'zod'
import { actingAs, holdingLease, INT_MAX, StoredResult, taskId, timestamp } from './fields.ts'
import { operation } from './operation.ts'

/** What a model can take in at once; who wants more asks for the next part or streams. */
const PART_BYTES = 32_768
const PART_BYTES_MAX = 1_048_576
/** An inline pointer holds the content. */
const POINTER_LENGTH_MAX = 65_536
const URL_LENGTH_MAX = 8_000

const pointer = z
  .string()
  .min(1)
  .max(POINTER_LENGTH_MAX)
  .describe("One of the task's pointers, where it has several; default its result.")
  .optional()
const ARCHIVES = ['blob', 'file', 's3'] as const

export const resultOperations = {
  putTaskResult: operation({
    summary: 'Put a large result where it is kept, before complete names it.',
    guide:
      "Then call complete with artifacts: [the reply], which locates the result; until that it is nobody's. What is put under " +
      'a lease that ends otherwise is removed. Over HTTP, PUT the content itself to the same path with /content behind it, of ' +
      'any size. Small results need none of this: complete with result and store_result.',
    route: 'POST /v1/tasks/{task_id}/result',
    content: 'in',
    scopes: ['tasks:lease'],
    effect: 'idempotent',
    errors: ['not_found', 'lease_invalid_or_expired', 'channel_unavailable'],
    input: z.strictObject({
      ...holdingLease,
      content: z.string().optional().describe('The result, as text or as base64.'),
      encoding: z.enum(['utf8', 'base64']).default('utf8').describe('How content is written.'),
      content_type: z
        .string()
        .regex(
          /^[\w.+-]+\/[\w.+-]+( *; *[\w.+-]+=("[ !#-[\]-~]*"|[\w.+-]+))*$/, // nothing that a header cannot carry
          'it must be a media type, e.g. text/csv',
        )
        .max(200)
        .optional()
        .describe('Media type; default application/octet-stream.'),
      channel: z
        .enum(['inline', 'blob', 'file', 's3', 'http'])
        .optional()
        .describe('Where to keep it; default what the task asks for, else by its size.'),
      target_url: z
        .string()
        .min(1)
        .max(URL_LENGTH_MAX)
        .optional()
        .describe('For the channel http: the public URL to PUT it to. Its query is used and not kept.'),
    }),
    output: StoredResult,
  }),
  fetchTaskResult: operation({
    summary: 'Fetch the result of a succeeded task, wherever it is kept.',
    guide:
      'JSON comes as result, anything else as content, in parts if it is large: ask again with offset = next_offset. The ' +
      'checksum of the whole is verified. Over HTTP, GET the same path with /content behind it to have all of it streamed. ' +
      'A pointer of a store that is not ours (depotgate:…) is passed through: content is null.',
    route: 'GET /v1/tasks/{task_id}/result',
    content: 'out',
    scopes: ['tasks:read'],
    effect: 'read',
    errors: ['not_found', 'invalid_transition', 'checksum_mismatch', 'channel_unavailable'],
    input: z.strictObject({
      ...actingAs,
      ...taskId,
      pointer,
      offset: z.int().min(0).max(INT_MAX).default(0).describe('Begin at this byte.'),
      max_bytes: z
        .int()
        .min(1)
        .max(PART_BYTES_MAX)
        .default(PART_BYTES)
        .describe('At most this many bytes in this reply.'),
    }),
    output: z.object({
      task_id: z.uuid(),
      pointer: z.string(),
      channel: z.string(),
      content_type: z.string().nullable(),
      bytes: z.int().nullable(),
      sha256: z.string().nullable(),
      verified: z.boolean().describe('The content is what was put there, by its checksum.'),
      result: z.unknown().optional().describe('The whole result, where it is JSON and fits.'),
      content: z.string().nullable().describe('This part of it, where it is not in result.'),
      encoding: z.enum(['utf8', 'base64']).nullable().describe('How content is written.'),
      offset: z.int(),
      next_offset: z.int().nullable().describe('Where the next part begins; null at the end.'),
      download: z.string().nullable().describe('Path from which all of it can be streamed over HTTP.'),
      archives: z
        .array(z.object({ ...StoredResult.shape, archived_at: timestamp }))
        .describe('Copies that archive_task_result made.'),
    }),
  }),
  archiveTaskResult: operation({
    summary: 'Copy the result of a succeeded task to a channel where it is to be kept.',
    guide:
      'The copy is verified and recorded; fetch_task_result falls back to it when the first place has lost the result. The task ' +
      'and its receipts stay as they are. Repeating the call returns the first copy.',
    route: 'POST /v1/tasks/{task_id}/result/archive',
    scopes: ['tasks:write'],
    effect: 'idempotent',
    listed: 'admin',
    errors: ['not_found', 'invalid_transition', 'checksum_mismatch', 'channel_unavailable'],
    input: z.strictObject({
      ...actingAs,
      ...taskId,
      pointer,
      channel: z.enum(ARCHIVES).describe('Where to keep the copy.'),
    }),
    output: z.object({ ...StoredResult.shape, archived_at: timestamp, is_duplicate: z.boolean() }),
  }),
}
