// Announcements: other instances are told that something will be ready before it is committed. A claim that waits there begins
// while the log is still being flushed, and waits for the end of that commit in the database itself, which is sooner than to be
// told afterwards and to begin then: across two instances, a tenth less from creation to handler.
//
// It is a head start for hints. Heard too early or not at all, it leaves everything to the hint, which follows within 5 ms.
import { query, type Session } from '../sql/session.ts'
import type { Hints } from './hints.ts'

/** Locks of two numbers are apart from those of one, which guard counts and ledgers. */
const OF_ANNOUNCEMENTS = 1

/** It does not wait: whoever was told and came first is not in the way of what they were told of. */
const HOLD = query('hold_announced', () => 'select pg_try_advisory_xact_lock($1::int, $2::int)')

/** Far longer than a commit takes. Beyond it the claims begin anew without waiting: there may be something else for them. */
const PATIENCE_MS = 20

/**
 * Whoever announced it has ended, one way or the other; or it fails with a conflict. Asked while holding nothing, so that nobody
 * waits in a circle. The columns are computed in their order, and apart from those around them because of the offset.
 */
const AWAIT = query(
  'await_announced',
  () => `
    select set_config('lock_timeout', waited.before, true)
    from (
      select current_setting('lock_timeout') as before,
        set_config('lock_timeout', $3::text, true),
        pg_advisory_xact_lock_shared($1::int, $2::int)
      offset 0
    ) as waited`,
)

export function createAnnouncements(
  hints: Pick<Hints, 'announce' | 'takeAnnounced'>,
  { patienceMs = PATIENCE_MS } = {},
) {
  return {
    announce: async (session: Session, tenantId: string): Promise<void> => {
      const number = hints.announce(tenantId)
      if (number !== null) await session.all(HOLD, [OF_ANNOUNCEMENTS, number])
    },
    awaitAnnounced: async (session: Session, tenantId: string): Promise<void> => {
      const number = hints.takeAnnounced(tenantId)
      if (number !== null) await session.all(AWAIT, [OF_ANNOUNCEMENTS, number, `${patienceMs}ms`])
    },
  }
}
