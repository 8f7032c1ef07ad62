// Claims that wait for work. All that wait in a tenant are served together, the longest waiting first, when something
// became ready: here, on another instance (a hint), or because a delay has ended.
import type { Clock } from '../clock.ts'
import type { ClaimCommand } from './command.ts'
import { filterKeyOf, type Grant } from './decide/claim.ts'
import type { Claimed } from './decide/index.ts'

/** Hints from other instances can be lost; this bounds what that costs. */
const POLL_MS = 1_000
/** What is due and was not given may be held by another instance just now: asking again at once would only ask often. */
const OVERDUE_MS = 25
/** Of those that wait for the same, this many are offered work in one commit. */
const WAITERS_PER_ROUND_MAX = 32

/** Once those that were offered had no room under their keys, more are looked at than are asked for. */
const SPARE_CANDIDATES = 20

interface Waiter {
  readonly command: ClaimCommand
  readonly answer: (grants: readonly Grant[]) => void
}

interface Tenant {
  readonly waiters: Set<Waiter>
  /** Grows with every wake, so that a wake during a fruitless attempt is not lost. */
  wakes: number
  serving: boolean
  timer: { readonly at: number; readonly cancel: () => void } | null
}

export interface WaitingClaims {
  claim(
    tenantId: string,
    command: ClaimCommand,
    options: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<readonly Grant[]>
  wake(tenantId: string): void
  count(): number
  /** Everybody who waits is answered with nothing, at once. */
  stop(): void
}

export interface WaitingClaimsParts {
  readonly attempt: (tenantId: string, commands: readonly ClaimCommand[]) => Promise<readonly Claimed[]>
  /** Grants that nobody is there to take any more. */
  readonly giveBack: (tenantId: string, grants: readonly Grant[]) => Promise<void>
  readonly nextEligibleAt: (tenantId: string) => Promise<number | null>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

export function createWaitingClaims(parts: WaitingClaimsParts): WaitingClaims {
  const { attempt, giveBack, nextEligibleAt, clock, onError } = parts
  const tenants = new Map<string, Tenant>()
  let stopped = false

  function tenantOf(tenantId: string): Tenant {
    let tenant = tenants.get(tenantId)
    if (tenant === undefined) {
      tenant = { waiters: new Set(), wakes: 0, serving: false, timer: null }
      tenants.set(tenantId, tenant)
    }
    return tenant
  }

  /** Candidates without room are parked as they are met, so asking again makes progress and ends. */
  async function attemptOnce(
    tenantId: string,
    command: ClaimCommand,
    signal: AbortSignal,
  ): Promise<readonly Grant[]> {
    for (let spare = 0; ; spare = SPARE_CANDIDATES) {
      const [claimed] = await attempt(tenantId, [{ ...command, spare }])
      const isOver = claimed === undefined || claimed.grants.length > 0 || !claimed.again
      if (isOver || stopped || signal.aborted) return claimed?.grants ?? []
    }
  }

  async function claim(
    tenantId: string,
    command: ClaimCommand,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<readonly Grant[]> {
    const tenant = tenantOf(tenantId)
    const until = clock.now() + waitMs
    for (;;) {
      const { wakes } = tenant
      const grants = await attemptOnce(tenantId, command, signal)
      if (grants.length > 0) return grants
      if (stopped || signal.aborted || clock.now() >= until) return []
      if (tenant.wakes === wakes) return wait(tenantId, command, { waitMs: until - clock.now(), signal })
    }
  }

  function wait(
    tenantId: string,
    command: ClaimCommand,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<readonly Grant[]> {
    const tenant = tenantOf(tenantId)
    return new Promise((resolve) => {
      const leave = () => waiter.answer([])
      const cancelTimeout = clock.after(waitMs, leave)
      const waiter: Waiter = {
        command,
        answer: (grants) => {
          const first = tenant.waiters.delete(waiter)
          cancelTimeout()
          signal.removeEventListener('abort', leave)
          if (first) resolve(grants)
          else if (grants.length > 0) giveBack(tenantId, grants).catch(onError)
        },
      }
      signal.addEventListener('abort', leave)
      tenant.waiters.add(waiter)
      lookAgain(tenantId, tenant, clock.now() + POLL_MS)
      // Those who wait already know when the next delay ends.
      if (tenant.waiters.size === 1) awaitNextDelay(tenantId, tenant).catch(onError)
    })
  }

  function wake(tenantId: string): void {
    const tenant = tenants.get(tenantId)
    if (tenant === undefined) return
    tenant.wakes += 1
    if (tenant.serving || tenant.waiters.size === 0) return
    tenant.serving = true
    serve(tenantId, tenant)
      .catch(onError)
      .finally(() => {
        tenant.serving = false
        lookAgain(tenantId, tenant, clock.now() + POLL_MS)
      })
  }

  async function serve(tenantId: string, tenant: Tenant): Promise<void> {
    let served = -1
    while (served !== tenant.wakes && tenant.waiters.size > 0) {
      served = tenant.wakes
      await serveRound(tenantId, tenant)
    }
    if (tenant.waiters.size > 0) await awaitNextDelay(tenantId, tenant)
  }

  async function awaitNextDelay(tenantId: string, tenant: Tenant): Promise<void> {
    const dueAt = await nextEligibleAt(tenantId)
    if (dueAt === null) return
    const now = clock.now()
    lookAgain(tenantId, tenant, dueAt > now ? dueAt : now + OVERDUE_MS)
  }

  /** Goes on with a group as long as its last chunk was given something, or may have been held back by a capacity. */
  async function serveRound(tenantId: string, tenant: Tenant): Promise<void> {
    let groups = groupByFilter(tenant.waiters)
    while (groups.length > 0) {
      const chunks = groups.map((group) => group.slice(0, WAITERS_PER_ROUND_MAX))
      const fruitful = await offer(tenantId, chunks)
      groups = groups
        .map((group) => group.slice(WAITERS_PER_ROUND_MAX))
        .filter((rest, index) => rest.length > 0 && fruitful[index])
    }
  }

  async function offer(tenantId: string, chunks: readonly Waiter[][]): Promise<boolean[]> {
    const offered = chunks.flat()
    const claims = await attempt(
      tenantId,
      offered.map((waiter) => waiter.command),
    )
    const again = claims.some((claimed) => claimed.again)
    offered.forEach((waiter, index) => {
      const grants = claims[index]?.grants ?? []
      if (grants.length > 0) waiter.answer(grants)
    })
    if (again) tenantOf(tenantId).wakes += 1
    let start = 0
    return chunks.map((chunk) => {
      const results = claims.slice(start, (start += chunk.length))
      return (
        results.some(({ grants }) => grants.length > 0) ||
        chunk.some((waiter) => waiter.command.capacity !== null)
      )
    })
  }

  /** The earliest look stands: neither newcomers nor the poll put off what somebody waits for. */
  function lookAgain(tenantId: string, tenant: Tenant, at: number): void {
    if (stopped || tenant.waiters.size === 0 || (tenant.timer !== null && tenant.timer.at <= at)) return
    tenant.timer?.cancel()
    const cancel = clock.after(at - clock.now(), () => {
      tenant.timer = null
      wake(tenantId)
    })
    tenant.timer = { at, cancel }
  }

  return {
    claim,
    wake,
    count: () => [...tenants.values()].reduce((sum, tenant) => sum + tenant.waiters.size, 0),
    stop: () => {
      stopped = true
      for (const tenant of tenants.values()) {
        tenant.timer?.cancel()
        for (const waiter of tenant.waiters) waiter.answer([])
      }
    },
  }
}

function groupByFilter(waiters: Iterable<Waiter>): Waiter[][] {
  const groups = new Map<string, Waiter[]>()
  for (const waiter of waiters) {
    const key = filterKeyOf(waiter.command)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [waiter])
    else group.push(waiter)
  }
  return [...groups.values()]
}
