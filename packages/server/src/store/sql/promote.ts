// Delayed tasks whose time has come move to where claims look, before a claim looks.
import type { Session } from './session.ts'
import { dueDelayed, markReady } from './statements/queued.ts'

/** Bounds one transaction; more than this is moved in further ones. */
export const PROMOTIONS_MAX = 1_000

export function findDue(session: Session, tenantId: string, now: number): Promise<{ task_id: string }[]> {
  return dueDelayed(session, tenantId, { now, limit: PROMOTIONS_MAX })
}

export async function promote(
  session: Session,
  tenantId: string,
  due: readonly { task_id: string }[],
): Promise<void> {
  await markReady(session, tenantId, due)
}
