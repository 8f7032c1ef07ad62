// Removes what nobody can come to need any more: results of executions that did not complete their task, copies that were not
// finished. A task that has not ended may still be completed, so its results wait; what has been named once is kept.
import { isTerminal } from '../engine/model.ts'
import type { StoredResult } from '../store/results.ts'
import { artifactsOf } from './locate.ts'
import type { ResultParts } from './parts.ts'

/** An upload may take long, and its worker some time to complete afterwards. */
export const CHECK_AFTER_MS = 3_600_000
/** What nobody has finished for so long is of a process that is gone. */
export const HALFWAY_MS_MAX = 86_400_000
/** Of a pass, which a stop waits for. With four a minute the collector keeps up with 13 new results a second. */
const BATCH_MAX = 800
const LOOKED_AT_ONCE = 5

export interface Collector {
  /** How many results are gone. Any number of instances may look at once. */
  runOnce(): Promise<number>
}

export function createCollector(parts: ResultParts, onError: (error: unknown) => void): Collector {
  const { store, channels, clock } = parts

  async function look(result: StoredResult): Promise<boolean> {
    const verdict = await judge(result, parts)
    const channel = channels.find(result.channel)
    if (verdict === 'keep') await store.checkResultLater({ ...idOf(result), checkAt: null })
    // A channel that is not configured here cannot be asked to let go; another server may have it.
    if (verdict === 'wait' || (verdict === 'drop' && channel === undefined))
      await store.checkResultLater({ ...idOf(result), checkAt: clock.now() + CHECK_AFTER_MS })
    if (verdict !== 'drop' || channel === undefined) return false
    // The content first: while its row is there, a pass that fails is repeated.
    if (!(await isNeeded(result))) await channel.ack(result)
    await store.removeResult(idOf(result))
    return true
  }

  async function tryToLook(result: StoredResult): Promise<boolean> {
    try {
      return await look(result)
    } catch (error) {
      onError(error)
      // One that cannot be removed now must not keep the others waiting.
      await store.checkResultLater({ ...idOf(result), checkAt: clock.now() + CHECK_AFTER_MS })
      return false
    }
  }

  /** The same content may have been put more than once at one pointer, and one of them be the result. */
  async function isNeeded(result: StoredResult): Promise<boolean> {
    const others = (await store.resultsAt(result)).filter(({ resultId }) => resultId !== result.resultId)
    const now = clock.now()
    if (others.some(({ checkAt }) => checkAt !== null && checkAt > now)) return true // perhaps still under way
    const verdicts = await Promise.all(others.map((one) => judge(one, parts)))
    return verdicts.some((verdict) => verdict !== 'drop')
  }

  return {
    runOnce: async () => {
      let gone = 0
      const due = await store.dueResults(clock.now(), BATCH_MAX)
      for (let at = 0; at < due.length; at += LOOKED_AT_ONCE) {
        const looked = await Promise.all(due.slice(at, at + LOOKED_AT_ONCE).map(tryToLook))
        gone += looked.filter((isGone) => isGone).length
      }
      for (const channel of channels.all) gone += (await channel.tidy?.(clock.now() - HALFWAY_MS_MAX)) ?? 0
      return gone
    },
  }
}

async function judge(result: StoredResult, { store }: ResultParts): Promise<'keep' | 'wait' | 'drop'> {
  const { tenantId, taskId, kind, measure } = result
  if (kind === 'archive') return measure === null ? 'drop' : 'keep'
  const task = await store.readTask(tenantId, taskId)
  if (task === null) return 'drop'
  const { status, terminalReceiptId } = task.state
  if (!isTerminal(status)) return 'wait'
  if (status !== 'succeeded' || measure === null) return 'drop'
  const terminal = await store.readReceipt(tenantId, terminalReceiptId!) // of every task that has ended
  if (terminal?.receipt.leaseId !== result.leaseId) return 'drop'
  const dischargedBy = await store.dischargedBy(tenantId, task.definition.assignedReceiptId)
  if (dischargedBy === null) return 'wait' // attach_artifacts may name it yet
  const discharging = dischargedBy === undefined ? null : await store.readReceipt(tenantId, dischargedBy)
  const isNamed =
    discharging !== null && artifactsOf(discharging.receipt).some(({ pointer }) => pointer === result.pointer)
  return isNamed ? 'keep' : 'drop'
}

function idOf({ tenantId, taskId, resultId }: StoredResult) {
  return { tenantId, taskId, resultId }
}
