// A worker puts a result: under its lease, before it completes. The row that announces it belongs to that lease, so that
// nothing of a worker that dies can be taken for the task's result.
import { measure } from '../channel/content.ts'
import type { Holding } from '../engine/command.ts'
import { isPastDeadline, noSuchTask } from '../engine/decide/context.ts'
import { isAlive, samePrincipal } from '../engine/model.ts'
import { leaseLost } from '../engine/state-table.ts'
import type { TaskView } from '../store/port.ts'
import type { StoredResult } from '../store/results.ts'
import { channelOfTask, choose } from './choice.ts'
import { CHECK_AFTER_MS } from './collect.ts'
import { type ResultParts, toPutError } from './parts.ts'

export interface Putting {
  readonly tenantId: string
  readonly holding: Holding
  /** The worker's own choice. */
  readonly channel: string | null
  readonly targetUrl: string | null
  readonly contentType: string
  /** Where the sender says it. */
  readonly bytes: number | null
  readonly content: AsyncIterable<Uint8Array>
}

export async function putResult(putting: Putting, parts: ResultParts): Promise<StoredResult> {
  const { store, channels, clock, ids } = parts
  const { tenantId, holding, targetUrl, contentType, bytes } = putting
  const { taskId, leaseId } = holding
  const task = await heldTask(putting, parts)
  const wanted = putting.channel ?? channelOfTask(task.definition, channels)
  const { channel, content: chosen } = await choose(wanted, putting.content, channels)
  const content = measure(chosen, { bytesMax: channels.bytesMax })
  const id = { tenantId, taskId, resultId: ids.next() }
  const createdAt = clock.now()
  const facts = { ...id, kind: 'upload', leaseId, channel: channel.name, contentType, createdAt } as const
  const announce = (pointer: string) =>
    store.addResult({ ...facts, pointer, measure: null, checkAt: createdAt + CHECK_AFTER_MS })
  const pointer = await channel
    .put({ ...id, contentType, bytes, targetUrl, content }, announce)
    .catch((error) => {
      throw toPutError(error, channel.name)
    })
  await heldTask(putting, parts)
  const measured = content.measured()
  const checkAt = clock.now() + CHECK_AFTER_MS
  await store.finishResult({ ...id, measure: measured, checkAt })
  return { ...facts, pointer, measure: measured, checkAt }
}

/** Before and after: a worker whose lease ended while it sent need not go on to complete. */
async function heldTask({ tenantId, holding }: Putting, { store, clock }: ResultParts): Promise<TaskView> {
  const { taskId, leaseId, worker } = holding
  const task = await store.readTask(tenantId, taskId)
  if (task === null) throw noSuchTask(taskId)
  const { lease } = task
  const now = clock.now()
  const isHeld = lease?.leaseId === leaseId && samePrincipal(lease.worker, worker) && isAlive(lease, now)
  if (!isHeld || isPastDeadline(task, now)) throw leaseLost(task.state.status)
  return task
}
