// Claims that wait for work. All that wait in a tenant are served together, the longest waiting first, when something
// became ready: here, on another instance (a hint), or because a delay has ended. What a commit is about to create is
// granted to them in that same commit: they ride with it.
import type { Clock } from '../clock.ts'
import type { ClaimCommand, Command } from './command.ts'
import type { Claimed, Grant, Result } from './decide/index.ts'
import { isKnownEmpty, newReadiness, noteFruitless, noteWake, POLL_MS, type Readiness } from './emptiness.ts'
import type { Wanted } from './matching.ts'
import {
  forget,
  groupFor,
  type Groups,
  inTurn,
  ridersOf,
  type Waiter,
  waitersOf,
  WAITERS_PER_ROUND_MAX,
} from './waiting-groups.ts'

/** What is due and was not given may be held by another instance just now: asking again at once would only ask often. */
const OVERDUE_MS = 25
/** Once those that were offered had no room under their keys, more are looked at than are asked for. */
const SPARE_CANDIDATES = 20

/** Looks at what other transactions hold, before a claim that does not wait is told that there is nothing. */
const HELD_LOOKS_MAX = 5

const NOTHING: Claimed = { grants: [], again: false }

/** Claims that go with a commit. */
export interface Ride {
  readonly commands: readonly ClaimCommand[]
  /** What each was given; nothing at all, if the commit failed. */
  end(claims: readonly Claimed[]): void
}

/** The claims of a commit, which look for what is ready. */
export interface Look {
  /** Those of the commit, without looks that would be in vain. */
  readonly commands: readonly Command[]
  /** What was found is known from now on. */
  end(results: readonly Result[]): void
}

interface Tenant extends Readiness {
  readonly groups: Groups
  /** How often the next delay was looked up. */
  seeks: number
  serving: boolean
  timer: { readonly at: number; readonly cancel: () => void } | null
}

export interface WaitingClaims {
  claim(
    tenantId: string,
    command: ClaimCommand,
    options: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<readonly Grant[]>
  /** `newDelays`: what there is may be for later. The next delay is looked up only then: it is a read for each wake. */
  wake(tenantId: string, newDelays?: boolean): void
  /** Something may be ready, or delayed, that nobody has heard of. Those who wait look within a second anyhow. */
  doubt(tenantId: string): void
  /** Those who wait for tasks that a commit is about to create. */
  ride(tenantId: string, coming: readonly Wanted[]): Ride | null
  /**
   * `isAlone`: what nobody here has heard of is not there. Otherwise only those who wait go without: they hear of it, or look
   * within a second.
   */
  look(tenantId: string, commands: readonly Command[], isAlone: boolean): Look
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
  let turns = 0

  function tenantOf(tenantId: string): Tenant {
    let tenant = tenants.get(tenantId)
    if (tenant === undefined) {
      tenant = { ...newReadiness(), groups: new Map(), seeks: 0, serving: false, timer: null }
      tenants.set(tenantId, tenant)
    }
    return tenant
  }

  /**
   * Candidates without room are parked as they are met, so asking again makes progress and ends. What others hold is asked
   * for again only by who cannot wait: mostly it is taken, and asking would hold up the commit that takes it.
   */
  async function attemptOnce(
    tenantId: string,
    command: ClaimCommand,
    { canWait, signal }: { canWait: boolean; signal: AbortSignal },
  ): Promise<Claimed> {
    for (let looks = 1; ; looks += 1) {
      const [claimed = NOTHING] = await attempt(tenantId, [
        { ...command, spare: looks > 1 ? SPARE_CANDIDATES : 0 },
      ])
      const isWorthAnother = claimed.again || (claimed.held === true && !canWait && looks < HELD_LOOKS_MAX)
      if (claimed.grants.length > 0 || !isWorthAnother || stopped || signal.aborted) return claimed
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
      if (waitMs > 0 && !stopped && !signal.aborted && isKnownEmpty(tenant, command, clock.now()))
        return wait(tenantId, command, { waitMs: until - clock.now(), signal })
      const { grants, held } = await attemptOnce(tenantId, command, { canWait: waitMs > 0, signal })
      if (grants.length > 0) return grants
      if (stopped || signal.aborted || clock.now() >= until) return []
      if (tenant.wakes !== wakes) continue
      const answer = wait(tenantId, command, { waitMs: until - clock.now(), signal })
      if (held) lookAgain(tenantId, tenant, clock.now() + OVERDUE_MS)
      return answer
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
      // A timer stands for the next delay already, where others wait.
      const isFirst = tenant.groups.size === 0
      const group = groupFor(tenant.groups, command)
      const waiter: Waiter = {
        command,
        turn: (turns += 1),
        busy: false,
        answer: (grants) => {
          const first = group.waiters.delete(waiter)
          if (group.waiters.size === 0) forget(tenant.groups, group)
          cancelTimeout()
          signal.removeEventListener('abort', leave)
          if (first) resolve(grants)
          else if (grants.length > 0) giveBack(tenantId, grants).catch(onError)
        },
      }
      signal.addEventListener('abort', leave)
      group.waiters.add(waiter)
      lookAgain(tenantId, tenant, clock.now() + POLL_MS)
      if (isFirst && tenant.delays === 'known') lookAgain(tenantId, tenant, tenant.dueAt)
      else if (isFirst) awaitNextDelay(tenantId, tenant).catch(onError)
    })
  }

  function doubt(tenantId: string, newDelays = true): void {
    const tenant = tenants.get(tenantId)
    if (tenant === undefined) return
    noteWake(tenant)
    if (newDelays) tenant.delays = 'new'
  }

  function wake(tenantId: string, newDelays = true): void {
    const tenant = tenants.get(tenantId)
    if (tenant === undefined) return
    doubt(tenantId, newDelays)
    if (tenant.serving || tenant.groups.size === 0) return
    serve(tenantId, tenant).catch(onError)
  }

  /** Ends in the turn in which it finds no further wake, and before it looks up delays: a wake from then on begins anew. */
  async function serve(tenantId: string, tenant: Tenant): Promise<void> {
    tenant.serving = true
    try {
      let served = -1
      while (served !== tenant.wakes && tenant.groups.size > 0) {
        served = tenant.wakes
        await serveRound(tenantId, tenant)
      }
    } finally {
      tenant.serving = false
      lookAgain(tenantId, tenant, clock.now() + POLL_MS)
    }
    if (tenant.groups.size > 0 && tenant.delays === 'new') await awaitNextDelay(tenantId, tenant)
  }

  /** Of two at once, the later one knows: the first may have read before what woke the other. */
  async function awaitNextDelay(tenantId: string, tenant: Tenant): Promise<void> {
    tenant.delays = 'sought'
    const seek = (tenant.seeks += 1)
    const dueAt = (await nextEligibleAt(tenantId)) ?? Infinity
    const now = clock.now()
    if (dueAt <= now) return lookAgain(tenantId, tenant, now + OVERDUE_MS)
    if (tenant.delays === 'sought' && tenant.seeks === seek) Object.assign(tenant, { delays: 'known', dueAt })
    lookAgain(tenantId, tenant, dueAt)
  }

  /** Goes on with a group as long as its last chunk was given something, or may have been held back by a capacity. */
  async function serveRound(tenantId: string, tenant: Tenant): Promise<void> {
    let groups = inTurn(tenant.groups)
      .map(({ waiters }) => [...waiters].filter(({ busy }) => !busy))
      .filter((group) => group.length > 0)
    while (groups.length > 0) {
      const chunks = groups.map((group) => group.slice(0, WAITERS_PER_ROUND_MAX))
      const fruitful = await offer(tenantId, chunks)
      groups = groups
        .map((group) => group.slice(WAITERS_PER_ROUND_MAX).filter(({ busy }) => !busy))
        .filter((rest, index) => rest.length > 0 && fruitful[index])
    }
  }

  async function offer(tenantId: string, chunks: readonly Waiter[][]): Promise<boolean[]> {
    const { commands, end } = board(tenantId, chunks.flat())
    let claims: readonly Claimed[] = []
    try {
      claims = await attempt(tenantId, commands)
    } finally {
      end(claims)
    }
    let start = 0
    return chunks.map((chunk) => {
      const results = claims.slice(start, (start += chunk.length))
      return (
        results.some(({ grants }) => grants.length > 0) ||
        chunk.some((waiter) => waiter.command.capacity !== null)
      )
    })
  }

  /** Whoever is given nothing waits on; if there was reason to look while they were away, that is made up for. */
  function board(tenantId: string, waiters: readonly Waiter[]): Ride {
    const tenant = tenantOf(tenantId)
    for (const waiter of waiters) waiter.busy = true
    return {
      commands: waiters.map((waiter) => waiter.command),
      end: (claims) => {
        waiters.forEach((waiter, index) => {
          const { grants } = claims[index] ?? NOTHING
          waiter.busy = false
          if (grants.length > 0) waiter.answer(grants)
        })
        if (claims.some(({ again }) => again)) noteWake(tenant)
        if (claims.some(({ held }) => held)) lookAgain(tenantId, tenant, clock.now() + OVERDUE_MS)
      },
    }
  }

  function ride(tenantId: string, coming: readonly Wanted[]): Ride | null {
    const tenant = tenants.get(tenantId)
    if (tenant === undefined || stopped) return null
    const riders = ridersOf(tenant.groups, coming)
    if (riders.length === 0) return null
    const { wakes } = tenant
    const { commands, end } = board(tenantId, riders)
    return {
      commands: commands.map((command) => sparing(tenant, command)),
      end: (claims) => {
        end(claims)
        if (tenant.wakes !== wakes) wake(tenantId, false)
      },
    }
  }

  function sparing<C extends Command>(tenant: Tenant, command: C): C {
    const isVain = command.kind === 'claim' && isKnownEmpty(tenant, command, clock.now())
    return isVain ? { ...command, freshOnly: true } : command
  }

  function look(tenantId: string, commands: readonly Command[], isAlone: boolean): Look {
    if (!commands.some(({ kind }) => kind === 'claim')) return { commands, end: () => {} }
    const tenant = tenantOf(tenantId)
    const begun = { wakes: tenant.wakes, at: clock.now() }
    return {
      commands: isAlone ? commands.map((command) => sparing(tenant, command)) : commands,
      end: (results) =>
        commands.forEach((command, at) => {
          const result = results[at]
          if (command.kind !== 'claim' || !result?.ok) return
          const { empty } = result.reply as Claimed // the reply of a claim
          if (empty) noteFruitless(tenant, command, begun)
        }),
    }
  }

  /** The earliest look stands: neither newcomers nor the poll put off what somebody waits for. */
  function lookAgain(tenantId: string, tenant: Tenant, at: number): void {
    if (stopped || tenant.groups.size === 0 || at >= (tenant.timer?.at ?? Infinity)) return
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
    doubt,
    ride,
    look,
    count: () => [...tenants.values()].flatMap(({ groups }) => waitersOf(groups)).length,
    stop: () => {
      stopped = true
      for (const tenant of tenants.values()) {
        tenant.timer?.cancel()
        for (const waiter of waitersOf(tenant.groups)) waiter.answer([])
      }
    },
  }
}
