// How tasks leave a shelf: by where their rows lie, as far as that is known, and else by their ids.
import type { Task } from '../../../engine/model.ts'
import { bulk, type Session } from '../session.ts'
import { byAddress } from '../shelved.ts'

type Leave = (session: Session, tenantId: string, tasks: readonly Task[]) => Promise<unknown>

function leaving(shelf: 'queued' | 'leased'): Leave {
  const byId = bulk(`delete_${shelf}`, { task_id: 'uuid' }, (x, words) =>
    words.delete({ table: shelf, keys: ['task_id'], input: x }),
  )
  const atAddress = bulk(
    `delete_${shelf}_at`,
    { address: 'address' },
    (x, words) => `delete from ${shelf} where ${words.liesAt(shelf, x)}`,
  )
  return (session, tenantId, tasks) => {
    const { placed, others } = byAddress(tasks)
    return Promise.all([session.each(atAddress, tenantId, placed), session.each(byId, tenantId, others)])
  }
}

export const deleteQueued = leaving('queued')
export const deleteLeased = leaving('leased')
