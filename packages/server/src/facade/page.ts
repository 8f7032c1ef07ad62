// Pages: limits within bounds, and cursors that callers cannot and need not read.
import { GateError, NAME_LENGTH_MAX } from '@asyncgate/sdk'

export interface ListBounds {
  readonly defaultLimit: number
  readonly maxLimit: number
}

export function pageLimit(limit: number | undefined, bounds: ListBounds): number {
  if (limit === undefined) return bounds.defaultLimit
  if (limit <= bounds.maxLimit) return limit
  throw new GateError(
    'invalid_input',
    `Field "limit" is not valid: it must be from 1 to ${bounds.maxLimit}.`,
    {
      field: 'limit',
      issues: [{ field: 'limit', message: `At most ${bounds.maxLimit}.` }],
    },
  )
}

/** A cursor says which list it belongs to, so that one of another list is refused and not misread. */
export type CursorOf =
  | 'tasks'
  | 'receipts'
  | 'obligations'
  | 'progress'
  | 'keys'
  | 'accounts'
  | 'clients'
  | 'tenants'
  | 'types'
  | 'audit'

export function encodeCursor(list: CursorOf, last: string | number): string {
  return Buffer.from(`${list}:${last}`).toString('base64url')
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Of the lists whose order is that of their ids. */
type ListOfIds = 'tasks' | 'keys' | 'accounts' | 'clients' | 'audit'

export function decodeIdCursor(list: ListOfIds, cursor: string | undefined): string | null {
  const last = decode(list, cursor)
  if (last !== null && !UUID.test(last)) throw badCursor()
  return last
}

/** Whatever it is, it is compared with the names of tenants and never anything else. */
export function decodeTenantCursor(cursor: string | undefined): string | null {
  const last = decode('tenants', cursor)
  if (last !== null && !/^[a-z0-9_-]{1,63}$/.test(last)) throw badCursor()
  return last
}

/** Any name can be that of a type. */
export function decodeTypeCursor(cursor: string | undefined): string | null {
  const last = decode('types', cursor)
  if (last !== null && (last.length > NAME_LENGTH_MAX || last.includes('\0'))) throw badCursor()
  return last
}

export function decodePosition(
  list: Exclude<CursorOf, ListOfIds | 'tenants' | 'types'>,
  cursor: string | undefined,
): number | null {
  const last = decode(list, cursor)
  if (last === null) return null
  if (!/^\d{1,15}$/.test(last)) throw badCursor()
  return Number(last)
}

function decode(list: CursorOf, cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith(`${list}:`) || encodeCursor(list, text.slice(list.length + 1)) !== cursor)
    throw badCursor()
  return text.slice(list.length + 1)
}

function badCursor(): GateError {
  const message =
    'Field "cursor" is not valid: pass the cursor of the previous page unchanged, or leave it out.'
  return new GateError('invalid_input', message, { field: 'cursor', issues: [{ field: 'cursor', message }] })
}

/** Two hundred tasks of several MiB each would be more than one reply can carry. */
export const PAGE_BYTES_MAX = 32 * 1_048_576

/**
 * One row more than the page was asked for: if it is there, there is a next page. A page of heavy rows is cut short by
 * their size, so that the rest comes with the next one.
 */
export function cutPage<T>(
  rows: readonly T[],
  limit: number,
  { cursorOf, bytesOf }: { cursorOf: (last: T) => string; bytesOf?: (row: T) => number },
) {
  const page = bytesOf === undefined ? rows.slice(0, limit) : lightest(rows.slice(0, limit), bytesOf)
  const last = page.at(-1)
  return { page, next: rows.length > page.length && last !== undefined ? cursorOf(last) : null }
}

/** As many from the front as fit, and at least one. */
function lightest<T>(rows: readonly T[], bytesOf: (row: T) => number): readonly T[] {
  let bytes = 0
  const over = rows.findIndex((row) => (bytes += bytesOf(row)) > PAGE_BYTES_MAX)
  return over === -1 ? rows : rows.slice(0, Math.max(1, over))
}
