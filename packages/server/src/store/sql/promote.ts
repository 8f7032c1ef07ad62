// Delayed tasks whose time has come move to where claims look, before a claim looks.
import type { Session } from './session.ts'
import { deleteDelayed, dueDelayed, type DelayedRow, insertReady, markReady } from './statements/places.ts'

/** Bounds one transaction; more than this is moved in further ones. */
export const PROMOTIONS_MAX = 1_000

export function findDue(session: Session, tenantId: string, now: number): Promise<DelayedRow[]> {
  return dueDelayed(session, tenantId, { now, limit: PROMOTIONS_MAX })
}

export async function promote(session: Session, tenantId: string, due: readonly DelayedRow[]): Promise<void> {
  await Promise.all([
    deleteDelayed(session, tenantId, due),
    markReady(session, tenantId, due),
    insertReady(session, tenantId, due),
  ])
}
