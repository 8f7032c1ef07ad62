// The audit log, for administrators of the tenant.
import type { Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, encodeCursor, pageLimit } from '../page.ts'
import { auditToWire } from '../view-access.ts'
import { millis } from './new-task.ts'
import { type HandlerParts, orNull } from './parts.ts'

export function auditHandlers({ store, list }: HandlerParts): Pick<Handlers, 'listAudit'> {
  return {
    listAudit: async (input, { caller }) => {
      const limit = pageLimit(input.limit, list)
      const rows = await store.listAudit({
        tenantId: caller.tenantId,
        event: orNull(input.event),
        severity: orNull(input.severity),
        since: millis(input.since),
        before: decodeIdCursor('audit', input.cursor),
        limit: limit + 1,
      })
      const { page, next } = cutPage(rows, limit, { cursorOf: (last) => encodeCursor('audit', last.auditId) })
      return { audit: page.map(auditToWire), next_cursor: next }
    },
  }
}
