// What clients were told is done must be found in the store from then on, for ever.
import { isDeepStrictEqual } from 'node:util'
import type { Command } from '../../src/engine/command.ts'
import type { Claimed, Result } from '../../src/engine/decide/index.ts'
import type { State } from './state.ts'

interface Fact {
  readonly text: string
  readonly holds: (state: State) => boolean
}

export interface Acknowledged {
  add(command: Command, result: Result): void
  problems(state: State): Generator<string>
  readonly count: number
}

export function createAcknowledged(): Acknowledged {
  const facts: Fact[] = []
  return {
    add: (command, result) => {
      if (result.ok) facts.push(...factsOf(command, result.reply))
    },
    problems: function* (state) {
      for (const { text, holds } of facts) if (!holds(state)) yield `acknowledged, and lost: ${text}`
    },
    get count() {
      return facts.length
    },
  }
}

interface Reply {
  readonly ok?: boolean
  readonly taskId?: string
  readonly receiptId?: string
  readonly requeued?: boolean
}

function factsOf(command: Command, answer: unknown): Fact[] {
  const reply = (answer ?? {}) as Reply // each kind of command fixes what of this its reply has
  switch (command.kind) {
    case 'create':
      return [created(reply), recorded('task.assigned', reply.receiptId!)]
    case 'retry':
      return [created(reply), redriven(command.taskId, reply.taskId!)]
    case 'cancel':
      return reply.ok === true ? [hasStatus(command.taskId, 'canceled')] : []
    case 'complete':
      return [
        hasStatus(command.taskId, 'succeeded'),
        hasResult(command.taskId, command.result),
        recorded('task.completed', reply.receiptId!),
        ended(command.leaseId, command.taskId),
      ]
    case 'fail':
      return [
        failed(command.taskId, command.leaseId),
        ended(command.leaseId, command.taskId),
        ...(reply.requeued === false ? [hasStatus(command.taskId, 'failed')] : []),
      ]
    case 'release':
      return [ended(command.leaseId, command.taskId)]
    case 'attach':
      return [recorded('task.completed', reply.receiptId!), discharged(command.taskId)]
    case 'ack':
      return [recorded('receipt.acknowledged', reply.receiptId!)]
    case 'submitReceipt':
      return [recorded(command.receiptType, reply.receiptId!)]
    case 'start':
    case 'progress':
      return [begun(command.taskId)]
    case 'claim':
      return (answer as Claimed).grants.map(({ lease }) => accepted(lease.taskId, lease.leaseId))
    default:
      return []
  }
}

const created = ({ taskId }: Reply): Fact => ({
  text: `task ${taskId}`,
  holds: ({ tasks }) => tasks.has(taskId!),
})

const recorded = (type: string, receiptId: string): Fact => ({
  text: `${type} ${receiptId}`,
  holds: ({ evidence }) => evidence.receipt(receiptId)?.receiptType === type,
})

const redriven = (from: string, to: string): Fact => ({
  text: `redrive of ${from} as ${to}`,
  holds: ({ tasks }) =>
    tasks.get(to)?.definition.causedByReceiptId === tasks.get(from)?.state.terminalReceiptId,
})

const hasStatus = (taskId: string, status: string): Fact => ({
  text: `${taskId} ${status}`,
  holds: ({ tasks }) => tasks.get(taskId)?.state.status === status,
})

const hasResult = (taskId: string, result: unknown): Fact => ({
  text: `the result of ${taskId}`,
  holds: ({ tasks }) => isDeepStrictEqual(tasks.get(taskId)?.state.result?.result, result),
})

const ended = (leaseId: string, taskId: string): Fact => ({
  text: `the end of lease ${leaseId}`,
  holds: ({ tasks }) => tasks.get(taskId)?.lease?.leaseId !== leaseId,
})

const failed = (taskId: string, leaseId: string): Fact => ({
  text: `the failure of ${taskId} under ${leaseId}`,
  holds: ({ evidence }) => evidence.of(taskId).failures.some((receipt) => receipt.leaseId === leaseId),
})

const discharged = (taskId: string): Fact => ({
  text: `the artifacts of ${taskId}`,
  holds: ({ tasks, evidence }) => !evidence.open.has(tasks.get(taskId)!.definition.assignedReceiptId),
})

const begun = (taskId: string): Fact => ({
  text: `the start of ${taskId}`,
  holds: ({ tasks }) => tasks.get(taskId)?.state.startedAt !== null,
})

const accepted = (taskId: string, leaseId: string): Fact => ({
  text: `the lease ${leaseId} of ${taskId}`,
  holds: ({ evidence }) => evidence.of(taskId).accepted.some((receipt) => receipt.leaseId === leaseId),
})
