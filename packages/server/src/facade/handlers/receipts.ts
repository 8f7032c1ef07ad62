// Handlers of the ledger.
import { concerns, noSuchReceipt } from '../../engine/decide/receipts.ts'
import { assertWithinLimits, bodyOf } from '../../engine/ledger.ts'
import type { Receipt, Relationship } from '../../engine/model.ts'
import type { Positioned } from '../../store/port.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { cutPage, decodePosition, encodeCursor, pageLimit } from '../page.ts'
import { receiptToWire, relationshipToWire } from '../view.ts'
import { actorOf, concerning, type HandlerParts, orNull } from './parts.ts'

type ReceiptHandlers = Pick<
  Handlers,
  | 'openObligations'
  | 'checkTerminator'
  | 'listReceipts'
  | 'getReceipt'
  | 'ackReceipt'
  | 'submitReceipt'
  | 'bootstrap'
>

/** A chain longer than this is followed page by page with list_receipts. */
const CHAIN_MAX = 100

export function receiptHandlers(parts: HandlerParts): ReceiptHandlers {
  const { engine, store, policy, list, server, clock } = parts

  async function visible(receiptId: string, context: CallContext): Promise<Positioned> {
    const found = await store.readReceipt(context.caller.tenantId, receiptId)
    if (found === null || !(await isVisible(found.receipt, context))) throw noSuchReceipt(receiptId)
    return found
  }

  /** Receipts from or to the principal, and those of tasks that it owns or is owed. */
  async function isVisible(receipt: Receipt, context: CallContext): Promise<boolean> {
    const actor = actorOf(context)
    if (concerns(receipt, actor)) return true
    if (receipt.taskId === null) return false
    const task = await store.readTask(context.caller.tenantId, receipt.taskId)
    return (
      task !== null &&
      [task.definition.createdBy, task.definition.recipient].some(
        ({ kind, id }) => kind === actor.principal.kind && id === actor.principal.id,
      )
    )
  }

  async function after(receiptId: string | undefined, context: CallContext): Promise<number | null> {
    return receiptId === undefined ? null : (await visible(receiptId, context)).position
  }

  /** Being asked for obligations is how a principal is known. */
  async function greet({ caller, acting, instanceId }: CallContext): Promise<Relationship> {
    await engine.run(caller.tenantId, { kind: 'greet', principal: acting, instanceId })
    const known = await store.readRelationship(caller.tenantId, acting)
    const now = clock.now()
    return known ?? { principal: acting, firstSeenAt: now, lastSeenAt: now, sessionsCount: 1 }
  }

  const about = () => ({
    name: server.name,
    version: server.version,
    instance_id: server.instanceId,
    uptime: Math.max(0, Math.round((clock.now() - server.startedAt) / 1_000)),
  })

  return {
    openObligations: async (input, context) => {
      const limit = pageLimit(input.limit, list)
      const decoded = decodePosition('obligations', input.cursor)
      const relationship = await greet(context)
      const rows = await store.openObligations({
        tenantId: context.caller.tenantId,
        principal: context.acting,
        after: decoded,
        limit: limit + 1,
      })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('obligations', last.position),
      })
      return {
        server: about(),
        relationship: relationshipToWire(relationship),
        open_obligations: page.map(({ receipt }) => receiptToWire(receipt)),
        cursor: next,
      }
    },
    checkTerminator: async ({ parent_receipt_id }, context) => {
      await visible(parent_receipt_id, context)
      const terminator = await store.dischargedBy(context.caller.tenantId, parent_receipt_id)
      if (terminator === undefined || terminator === null) return { has_terminator: false }
      return { has_terminator: true, terminator_receipt_id: terminator }
    },
    listReceipts: async (input, context) => {
      const limit = pageLimit(input.limit, list)
      const cursor = decodePosition('receipts', input.cursor)
      const since = await after(input.since_receipt_id, context)
      const rows = await store.listReceipts({
        tenantId: context.caller.tenantId,
        to: { kind: orNull(input.to_kind), id: orNull(input.to_id) },
        from: { kind: orNull(input.from_kind), id: orNull(input.from_id) },
        concerning: concerning(context),
        taskId: orNull(input.task_id),
        receiptType: orNull(input.receipt_type),
        after: cursor === null ? since : Math.max(cursor, since ?? 0),
        limit: limit + 1,
      })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('receipts', last.position),
      })
      return { receipts: page.map(({ receipt }) => receiptToWire(receipt)), next_cursor: next }
    },
    getReceipt: async ({ receipt_id }, context) => {
      const { receipt } = await visible(receipt_id, context)
      const { tenantId } = context.caller
      return {
        ...receiptToWire(receipt),
        chain: (await ancestors(receipt, tenantId)).map(receiptToWire),
        discharged_by: (await store.dischargedBy(tenantId, receipt_id)) ?? null,
      }
    },
    ackReceipt: async ({ receipt_id }, context) => {
      await visible(receipt_id, context)
      const command = {
        kind: 'ack' as const,
        actor: { ...actorOf(context), sees: 'all' as const },
        receiptId: receipt_id,
      }
      const { receiptId } = await engine.run<{ receiptId: string }>(context.caller.tenantId, command)
      return { ok: true, receipt_id: receiptId }
    },
    submitReceipt: async (input, context) => {
      const parents = [...new Set(input.parents)]
      // Here as well as in the decision: a thousand parents need not be looked up to be too many.
      assertWithinLimits({ parents, body: bodyOf(input.body) }, policy)
      const reply = await engine.run<{ receiptId: string; hash: string; isDuplicate: boolean }>(
        context.caller.tenantId,
        {
          kind: 'submitReceipt',
          from: context.acting,
          to: input.to,
          receiptType: input.receipt_type,
          parents,
          body: input.body,
          taskId: orNull(input.task_id),
          scheduleId: orNull(input.schedule_id),
        },
      )
      return { receipt_id: reply.receiptId, hash: reply.hash, is_duplicate: reply.isDuplicate }
    },
    bootstrap: async (input, context) => {
      const limit = Math.min(input.max_items ?? list.defaultLimit, list.maxLimit)
      const since = await after(input.since_receipt_id, context)
      const relationship = await greet(context)
      const inbox = await store.listReceipts({
        tenantId: context.caller.tenantId,
        to: context.acting,
        from: { kind: null, id: null },
        concerning: null,
        taskId: null,
        receiptType: null,
        after: since,
        limit,
      })
      return {
        server: about(),
        relationship: relationshipToWire(relationship),
        attention: {
          inbox_receipts: inbox.map(({ receipt }) => receiptToWire(receipt)),
          assigned_tasks: [],
          waiting_results: [],
          running_or_scheduled: [],
          anomalies: [],
        },
        cursor: { latest_receipt_id: inbox.at(-1)?.receipt.receiptId ?? orNull(input.since_receipt_id) },
      }
    },
  }

  /** Parents, their parents, and so on: oldest first. */
  async function ancestors(receipt: Receipt, tenantId: string): Promise<Receipt[]> {
    const found = new Map<string, Positioned>()
    let wanted = [...receipt.parents]
    while (wanted.length > 0 && found.size < CHAIN_MAX) {
      const generation = await store.readReceipts(tenantId, wanted)
      for (const entry of generation) found.set(entry.receipt.receiptId, entry)
      wanted = generation.flatMap((entry) => entry.receipt.parents).filter((parent) => !found.has(parent))
    }
    const ordered = [...found.values()].toSorted((a, b) => a.position - b.position)
    return ordered.slice(-CHAIN_MAX).map((entry) => entry.receipt)
  }
}
