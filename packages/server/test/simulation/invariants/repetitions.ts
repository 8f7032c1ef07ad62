// Every write is safe to repeat: once a request was carried out, sending it again gives the first answer.
import { isDeepStrictEqual } from 'node:util'
import type { Command } from '../../../src/engine/command.ts'
import type { Result } from '../../../src/engine/decide/index.ts'
import { pairs, type Transition } from './transition.ts'

/** What a repetition must find again: all of the first reply, or the id in it. */
interface Kept {
  readonly request: string
  readonly reply: unknown
}

export interface Repetitions {
  problems(transition: Transition): Generator<string>
}

export function createRepetitions(): Repetitions {
  const first = new Map<string, Kept>()
  return {
    problems: function* (transition) {
      for (const { command, result } of pairs(transition)) {
        const key = keyOf(command)
        if (key === null) continue
        const known = first.get(key)
        if (known !== undefined) yield* again(command, result, known)
        else if (result.ok && !isNothing(result.reply)) {
          first.set(key, { request: JSON.stringify(command), reply: essence(command, result.reply) })
        }
      }
    },
  }
}

/** What makes two requests the same one; null where repeating is not the same request. */
function keyOf(command: Command): string | null {
  switch (command.kind) {
    case 'create': {
      const { createdBy, idempotencyKey } = command.task
      return idempotencyKey === null ? null : `create ${createdBy.id} ${idempotencyKey}`
    }
    case 'complete':
    case 'fail':
    case 'release':
      return `${command.kind} ${command.leaseId} ${command.worker.id}`
    case 'cancel':
    case 'retry':
      return `${command.kind} ${command.taskId}`
    case 'ack':
      return `ack ${command.receiptId} ${command.actor.principal.id}`
    case 'attach':
    case 'submitReceipt':
      return JSON.stringify(command)
    default:
      return null
  }
}

/** A cancel that came too late did nothing: it is no first answer. */
function isNothing(reply: unknown): boolean {
  return (reply as { ok?: boolean }).ok === false
}

function essence(command: Command, reply: unknown): unknown {
  const { taskId, receiptId } = reply as { taskId?: string; receiptId?: string }
  if (command.kind === 'create' || command.kind === 'retry') return taskId
  if (command.kind === 'submitReceipt') return receiptId
  return reply
}

const ANOTHER_BODY: Partial<Record<Command['kind'], string>> = {
  create: 'idempotency_conflict',
  complete: 'already_settled',
  fail: 'already_settled',
  release: 'already_settled',
}

function* again(command: Command, result: Result, known: Kept): Generator<string> {
  const what = `${command.kind} again (${keyOf(command)})`
  const refusal = ANOTHER_BODY[command.kind]
  if (command.kind === 'cancel') {
    if (!result.ok || !isNothing(result.reply)) yield `${what} was carried out twice`
  } else if (refusal !== undefined && known.request !== JSON.stringify(command)) {
    if (result.ok || result.error.code !== refusal) yield `${what} with another body was not ${refusal}`
  } else if (!result.ok) {
    yield `${what} was refused: ${result.error.code}`
  } else if (!isDeepStrictEqual(essence(command, result.reply), known.reply)) {
    yield `${what} gave ${JSON.stringify(result.reply)}, first ${JSON.stringify(known.reply)}`
  }
}
