// A batch of commands, decided one after the other on a working copy. Each succeeds or fails alone. Claims come last: what the
// others create is then granted at once, where somebody asks for it, and never lies in the queue.
import { GateError } from '@asyncgate/sdk'
import type { ClaimCommand, Command } from '../command.ts'
import { createDraft, type Draft, type Outcome, type View } from '../draft.ts'
import { jsonBytes, surelyFits } from '../ledger.ts'
import { bestFirst, fits } from '../matching.ts'
import type { Task } from '../model.ts'
import type { Candidates, Decision, Snapshot } from '../unit.ts'
import { decideCancel, decideResolve } from './cancel.ts'
import { decideCandidate, filterKeyOf, type Grant, headroom } from './claim.ts'
import type { Context } from './context.ts'
import { decideCreate, decideRetry } from './create.ts'
import { decideProgress, decideRenew, decideStart } from './keep.ts'
import { decideAck, decideAttach, decideSubmit, decideUnlinkable } from './receipts.ts'
import { refill } from './refill.ts'
import { decideSettle } from './settle.ts'
import { decideDeadline, decideExpire } from './sweep.ts'

export type Result =
  | { readonly ok: true; readonly reply: unknown }
  | { readonly ok: false; readonly error: GateError }

export function decideBatch(
  snapshot: Snapshot,
  commands: readonly Command[],
  context: Context,
): Decision<readonly Result[]> {
  const draft = createDraft(snapshot)
  const results = Array.from<Result>({ length: commands.length })
  const decideThose = (isMeant: (command: Command) => boolean) =>
    commands.forEach((command, at) => {
      if (isMeant(command)) results[at] = attempt(draft, command, context)
    })
  decideThose(({ kind }) => kind !== 'claim')
  decideThose(({ kind }) => kind === 'claim')
  // What is refused may repeat what was accepted before, and is then given the first answer.
  const mustKnowKeys =
    !snapshot.knowsKeys && commands.some((command, at) => isKeyed(command) && !results[at]!.ok)
  return { changes: draft.changes(), result: results, mustKnowKeys }
}

/** Whether it names what it creates, so that it creates it once. */
function isKeyed(command: Command): boolean {
  return command.kind === 'retry' || (command.kind === 'create' && command.task.idempotencyKey !== null)
}

function attempt(draft: Draft, command: Command, context: Context): Result {
  try {
    if (command.kind === 'claim') return { ok: true, reply: claim(draft, command, context) }
    const outcome = decide(draft, command, context)
    commit(draft, outcome, context)
    return { ok: true, reply: outcome.reply }
  } catch (error) {
    if (error instanceof GateError) return { ok: false, error }
    throw error
  }
}

/** Applies an outcome, and gives slots that it may have freed to what was parked for them: true if to anything. */
function commit(draft: Draft, outcome: Outcome, context: Context): boolean {
  const freed = freedKeys(draft, outcome)
  draft.apply(outcome)
  if (freed.size === 0) return false
  const refilled = refill(draft, freed, context)
  draft.apply(refilled)
  return refilled.tasks.length > 0
}

function freedKeys(view: View, outcome: Outcome): Set<string> {
  const keys = new Set<string>()
  for (const lease of outcome.leases ?? []) {
    if (lease.concurrencyKey !== null && lease.endedAt !== null) keys.add(lease.concurrencyKey)
  }
  for (const { definition, state } of outcome.tasks ?? []) {
    if (definition.concurrencyKey === null || state.place !== 'none') continue
    if (view.task(definition.taskId)?.state.place === 'ready') keys.add(definition.concurrencyKey)
  }
  return keys
}

export interface Claimed {
  readonly grants: readonly Grant[]
  /** The store stopped short, or what was offered freed a slot by its end: asking again may find more. */
  readonly again: boolean
  /** Nothing was free, but what fits may be in a moment. */
  readonly held?: boolean
  /** It has looked, and nothing that fits was ready, whoever had asked for it. */
  readonly empty?: boolean
}

/** What one claim is given travels in one reply; a worker that wants more asks again. */
const GRANTED_BYTES_MAX = 16 * 1_048_576

/** As many as one claim may be given, each of this size, are far from the limit: they need not be measured. */
const SMALL_BYTES = 4_096

function aboutBytes({ definition: { payload, metadata } }: Task): number {
  const carried = [payload, metadata]
  return surelyFits(carried, SMALL_BYTES) ? SMALL_BYTES : jsonBytes(carried)
}

function claim(draft: Draft, command: ClaimCommand, context: Context): Claimed {
  const grants: Grant[] = []
  let bytes = 0
  const wanted = headroom(draft, command, context)
  const candidates = draft.candidates(filterKeyOf(command))
  const offered = inOrder(draft, candidates, command)
  let refilled = false
  for (const taskId of offered) {
    if (grants.length >= wanted || bytes >= GRANTED_BYTES_MAX) break
    const outcome = decideCandidate(draft, taskId, command, context)
    if (outcome === null) continue
    if (outcome.reply === null) {
      refilled = commit(draft, outcome, context) || refilled
      continue
    }
    const { task, lease } = granted(draft, outcome)
    grants.push({ task, lease })
    bytes += aboutBytes(task)
  }
  return {
    grants,
    again: grants.length < wanted && (candidates.more || refilled),
    held: grants.length === 0 && wanted > 0 && candidates.held === true,
    empty: !command.freshOnly && wanted > 0 && offered.length === 0 && candidates.held !== true,
  }
}

/**
 * What the store offers, and what this batch has created: a task need not lie in the store before a worker who waits for it
 * gets it. Where the store has more than it offered, that comes first.
 */
function inOrder(draft: Draft, { taskIds, more }: Candidates, { filter }: ClaimCommand): readonly string[] {
  if (more) return taskIds
  const fresh = Array.from(draft.fresh(), ({ definition }) => definition).filter((task) => fits(filter, task))
  if (fresh.length === 0) return taskIds
  const stored = taskIds.map((taskId) => draft.task(taskId)!.definition)
  const all = new Map([...stored, ...fresh].map((definition) => [definition.taskId, definition]))
  return [...all.values()].toSorted(bestFirst(filter)).map(({ taskId }) => taskId)
}

function granted(draft: Draft, outcome: Outcome): Grant {
  draft.apply(outcome)
  return outcome.reply as Grant // a candidate's only other reply is null
}

function decide(view: View, command: Exclude<Command, ClaimCommand>, context: Context): Outcome {
  switch (command.kind) {
    case 'create':
      return decideCreate(view, command, context)
    case 'retry':
      return decideRetry(view, command, context)
    case 'cancel':
      return decideCancel(view, command, context)
    case 'start':
      return decideStart(view, command, context)
    case 'progress':
      return decideProgress(view, command, context)
    case 'renew':
      return decideRenew(view, command, context)
    case 'complete':
    case 'fail':
    case 'release':
      return decideSettle(view, command, context)
    case 'attach':
      return decideAttach(view, command, context)
    case 'ack':
      return decideAck(view, command, context)
    case 'submitReceipt':
      return decideSubmit(view, command, context)
    case 'greet':
      return { reply: null, sightings: [{ ...command, at: context.now }] }
    case 'expire':
      return decideExpire(view, command, context)
    case 'deadline':
      return decideDeadline(view, command, context)
    case 'unlinkable':
      return decideUnlinkable(view, command, context)
    case 'resolve':
      return decideResolve(view, command, context)
    case 'refill':
      return refill(view, [command.concurrencyKey], context)
  }
}

export type { Grant }
