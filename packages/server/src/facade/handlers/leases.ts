// Handlers of workers.
import type { Each, GateContract, Output } from '@asyncgate/sdk'
import type { ClaimCommand, LeaseCommand } from '../../engine/command.ts'
import type { Claimed, Grant, Result } from '../../engine/decide/index.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { channelOfTask } from '../../result/choice.ts'
import { grantToWire } from '../view.ts'
import {
  type ClaimInput,
  holding,
  type LeaseReply,
  type Report,
  replyToWire,
  startedToWire,
  toClaim,
  toLeaseCommand,
} from './lease-command.ts'
import { eachThen, type HandlerParts } from './parts.ts'

type LeaseHandlers = Pick<
  Handlers,
  'leaseNext' | 'renewLease' | 'releaseLease' | 'start' | 'reportProgress' | 'complete' | 'fail' | 'settle'
>

export function leaseHandlers(parts: HandlerParts): LeaseHandlers {
  const { engine, policy, workers, clock, channels } = parts
  const granting = (grant: Grant) => grantToWire(grant, channelOfTask(grant.task.definition, channels))

  const run = (command: LeaseCommand, { caller }: CallContext) =>
    engine.run<LeaseReply>(caller.tenantId, command)

  const report = (said: Report, context: CallContext) =>
    run(toLeaseCommand(said, context.acting, policy), context)

  function claimCommand(input: ClaimInput, { caller, acting }: CallContext): ClaimCommand {
    const command = toClaim(input, acting)
    workers.note(caller.tenantId, command, clock.now())
    return command
  }

  async function claim(
    input: ClaimInput,
    command: ClaimCommand,
    context: CallContext,
  ): Promise<readonly Grant[]> {
    const startedAt = clock.now()
    const waitMs = Math.min(input.wait_seconds, parts.claimWaitSecondsMax) * 1_000
    const grants = await engine.claim(context.caller.tenantId, command, { waitMs, signal: context.signal })
    parts.onClaim({ durationMs: clock.now() - startedAt, grantedCount: grants.length })
    return grants
  }

  /** What the commit itself granted; another look only when that is nothing, and may find more or wait for it. */
  async function granted(
    input: ClaimInput,
    { claimed, command }: { claimed: Result; command: ClaimCommand },
    context: CallContext,
  ): Promise<readonly Grant[]> {
    if (!claimed.ok) throw claimed.error
    const { grants, again, held } = claimed.reply as Claimed // the reply of a claim
    if (context.signal.aborted) {
      await engine.giveBack(context.caller.tenantId, grants)
      return []
    }
    const isOver = grants.length > 0 || (input.wait_seconds === 0 && !again && !held)
    return isOver ? grants : claim(input, command, context)
  }

  return {
    leaseNext: async (input, context) => {
      const grants = await claim(input, claimCommand(input, context), context)
      return { tasks: grants.map(granting) }
    },
    start: async (input, context) =>
      startedToWire(await run({ kind: 'start', ...holding(input, context.acting) }, context)),
    renewLease: async (input, context) =>
      replyToWire.renew(await report({ ...input, action: 'renew' }, context)),
    releaseLease: async (input, context) =>
      replyToWire.release(await report({ ...input, action: 'release' }, context)),
    reportProgress: async (input, context) =>
      replyToWire.progress(await report({ ...input, action: 'progress' }, context)),
    complete: async (input, context) =>
      replyToWire.complete(await report({ ...input, action: 'complete' }, context)),
    fail: async (input, context) => replyToWire.fail(await report({ ...input, action: 'fail' }, context)),
    settle: async ({ outcomes, claim: next }, context) => {
      const items = outcomes.map((outcome) =>
        eachThen(outcome, (said) => ({ said, command: toLeaseCommand(said, context.acting, policy) })),
      )
      const commands = items.flatMap((item) => (item.ok ? [item.value.command] : []))
      if (next === undefined) {
        return { outcomes: answers(items, await executeAll(commands, context)), tasks: [] }
      }
      const command = claimCommand(next, context)
      const results = await executeAll([...commands, command], context)
      const grants = await granted(next, { claimed: results.at(-1)!, command }, context)
      return { outcomes: answers(items, results), tasks: grants.map(granting) }
    },
  }

  async function executeAll(
    commands: readonly (LeaseCommand | ClaimCommand)[],
    { caller }: CallContext,
  ): Promise<readonly Result[]> {
    return commands.length === 0 ? [] : engine.execute(caller.tenantId, commands)
  }
}

/** In the order given: what could not be read keeps its place among what was decided. */
function answers(
  items: readonly Each<{ said: Report; command: LeaseCommand }>[],
  results: readonly Result[],
): Output<GateContract['settle']>['outcomes'] {
  const decided = results.values()
  return items.map((item) => {
    if (!item.ok) return { task_id: taskIdIn(item.written), ok: false as const, ...item.error.body() }
    const { task_id, action } = item.value.said
    const result = decided.next().value!
    if (!result.ok) return { task_id, ok: false as const, ...result.error.body() }
    return { task_id, ...replyToWire[action](result.reply as LeaseReply) }
  })
}

function taskIdIn(written: unknown): string | null {
  const taskId = (written as { task_id?: unknown } | null)?.task_id // whatever it is, it may have such a member
  return typeof taskId === 'string' ? taskId : null
}
