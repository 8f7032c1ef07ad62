// Ids as the database knows them. A string that is no such id names nothing, and must not reach a uuid
// column.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

export function uuids(texts: Iterable<string>): string[] {
  return [...texts].filter(isUuid)
}

/** The smallest UUIDv7 of a millisecond. */
export function firstUuidAt(epochMs: number): string {
  const time = Math.max(0, epochMs).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** Beyond every id: where a page that is the first one ends. */
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
