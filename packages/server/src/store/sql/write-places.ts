// Moving queued tasks between ready, delayed and parked, and out of them.
import type { Place, Task } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import type { Session } from './session.ts'
import {
  delayedRow,
  deleteDelayed,
  deleteParked,
  deleteReady,
  insertDelayed,
  insertParked,
  insertReady,
  parkedRow,
  readyRow,
} from './statements/places.ts'

export function movePlaces(session: Session, tenantId: string, changes: Changes): Promise<unknown> {
  const moved = changes.changedTasks.filter(({ before, after }) => whereabouts(before) !== whereabouts(after))
  const left = (place: Place) =>
    moved.map(({ before }) => before).filter(({ state }) => state.place === place)
  const arrived = [...changes.createdTasks, ...moved.map(({ after }) => after)]
  const entered = (place: Place) => arrived.filter(({ state }) => state.place === place)
  return Promise.all([
    deleteReady(session, tenantId, left('ready').map(readyRow)),
    deleteDelayed(session, tenantId, left('delayed').map(delayedRow)),
    deleteParked(session, tenantId, left('parked').map(parkedRow)),
    insertReady(session, tenantId, entered('ready').map(readyRow)),
    insertDelayed(session, tenantId, entered('delayed').map(delayedRow)),
    insertParked(session, tenantId, entered('parked').map(parkedRow)),
  ])
}

/** What of a task's state decides its row; the rest comes from its definition. */
function whereabouts({ state }: Task): string {
  return state.place === 'delayed' ? `delayed ${state.nextEligibleAt}` : state.place
}
