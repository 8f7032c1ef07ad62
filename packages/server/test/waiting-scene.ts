// Claims that wait, over a queue of work that the test fills.
import type { Grant } from '../src/engine/decide/claim.ts'
import { createWaitingClaims, type WaitingClaimsParts } from '../src/engine/waiting-claims.ts'
import { claimOf } from './simulation/commands.ts'
import { createVirtualClock } from './virtual-clock.ts'

const NEVER = new AbortController().signal
export const TENANT = 't'

/** A queue of work that grants in the order asked, and the claims that wait for it. */
export function scene(parts: Partial<WaitingClaimsParts> = {}) {
  const clock = createVirtualClock()
  const work: string[] = []
  const attempts: string[][] = []
  const givenBack: string[] = []
  const errors: unknown[] = []
  const claims = createWaitingClaims({
    attempt: async (tenantId, commands) => {
      attempts.push(commands.map((command) => command.worker.id))
      const look = claims.look(tenantId, commands, false)
      const claimed = commands.map(({ maxTasks }) => {
        const grants = work.splice(0, maxTasks).map(grantOf)
        return { grants, again: false, empty: grants.length === 0 }
      })
      look.end(claimed.map((reply) => ({ ok: true, reply })))
      return claimed
    },
    giveBack: async (_tenantId, grants) => void givenBack.push(...grants.map(taskOf)),
    nextEligibleAt: async () => null,
    clock,
    onError: (error) => errors.push(error),
    ...parts,
  })
  const answers: [worker: string, tasks: string[]][] = []
  const claim = (
    worker: string,
    of: { waitMs?: number; signal?: AbortSignal } & Parameters<typeof claimOf>[1] = {},
  ) => {
    const { waitMs = 60_000, signal = NEVER, ...fields } = of
    return claims
      .claim(TENANT, claimOf({ kind: 'worker', id: worker }, fields), { waitMs, signal })
      .then((grants) => void answers.push([worker, grants.map(taskOf)]))
  }
  const offer = async (...tasks: string[]) => {
    work.push(...tasks)
    claims.wake(TENANT)
    await clock.advance(0)
  }
  return { clock, work, attempts, givenBack, errors, claims, answers, claim, offer }
}

// Only the task's id is looked at here.
export const grantOf = (taskId: string) => ({ lease: { taskId } }) as Grant
const taskOf = (grant: Grant) => grant.lease.taskId
