// Whether a call may go on: the rates of the whole server, of its tenant and of its principal (LIM-1). Where nothing is limited
// it costs a look into a map.
import { GateError } from '@asyncgate/sdk'
import { type Caller, DEFAULT_TENANT } from '../auth/caller.ts'
import type { Bucket, Buckets, Spent } from './buckets.ts'
import type { Plan, TenantPlans } from './tenant-plans.ts'
import { stricter } from './tiers.ts'

/** What the headers of a reply say. */
export interface Shown {
  readonly bucket: string
  /** Null: unlimited. */
  readonly rate: { readonly limit: number; readonly remaining: number; readonly fullAt: number } | null
}

/** Leave to make one call. */
export interface Admission {
  shown: Shown
  /** The call that it was given for has been made: another one in the same request needs leave of its own. */
  isUsed: boolean
}

export interface Limiter {
  /** One call. Throws `rate_limit_exceeded`. */
  admit(caller: Caller): Admission | Promise<Admission>
  /** Tasks that a call is about to create. At once where they are known not to be limited. */
  admitTasks(caller: Caller, count: number, admission: Admission): void | Promise<void>
  /** Those of them that were not created after all. */
  refundTasks(caller: Caller, count: number): void | Promise<void>
  /** For replies to nobody in particular. */
  readonly anonymous: Shown
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

export interface LimiterParts {
  readonly buckets: Buckets
  readonly plans: TenantPlans
  /** 0 = no limit. */
  readonly globalCallsPerMinute: number
  readonly principalCallsPerHour: number
}

export function createLimiter(parts: LimiterParts): Limiter {
  const { buckets, plans, globalCallsPerMinute, principalCallsPerHour } = parts
  const anonymous: Shown = { bucket: 'global', rate: null }
  const everybody = bucketOf(DEFAULT_TENANT, 'global', { limit: globalCallsPerMinute, windowMs: MINUTE_MS })

  // A key that is in use brings the same caller with every call.
  const known = new WeakMap<Caller, { readonly plan: Plan; readonly buckets: readonly Bucket[] }>()

  function bucketsOf(caller: Caller, plan: Plan): readonly Bucket[] {
    const last = known.get(caller)
    if (last?.plan === plan) return last.buckets
    const found = { plan, buckets: findBuckets(caller, plan) }
    known.set(caller, found)
    return found.buckets
  }

  /** The narrowest first: what refuses a call should be what it can do something about. */
  function findBuckets({ tenantId, principal }: Caller, { limits }: Plan): Bucket[] {
    const ofPrincipal = stricter(limits.principalCallsPerHour, principalCallsPerHour)
    return [
      bucketOf(
        tenantId,
        `principal:${principal.kind}/${encodeURIComponent(principal.id.toWellFormed())}:calls`,
        perHour(ofPrincipal),
      ),
      bucketOf(tenantId, `tenant:${tenantId}:calls`, perHour(limits.callsPerHour)),
      everybody,
    ].filter((bucket) => bucket !== null)
  }

  function isUnlimited({ limits }: Plan): boolean {
    return (
      limits.callsPerHour + limits.principalCallsPerHour + globalCallsPerMinute + principalCallsPerHour === 0
    )
  }

  async function spendAll(caller: Caller, plan: Plan): Promise<Admission> {
    const spent: Bucket[] = []
    const shown: Shown[] = []
    for (const bucket of bucketsOf(caller, plan)) {
      const found = buckets.spend(bucket, 1)
      const answer = found instanceof Promise ? await found : found
      if (!answer.ok) {
        for (const other of spent) buckets.refund(other, 1)
        throw new RateLimited(bucket, answer, 'calls')
      }
      spent.push(bucket)
      shown.push(shownOf(bucket, answer))
    }
    return { shown: shown.reduce(tighter), isUsed: false }
  }

  function admitUnder(caller: Caller, plan: Plan): Admission | Promise<Admission> {
    if (!isUnlimited(plan)) return spendAll(caller, plan)
    return { shown: { bucket: `tenant:${caller.tenantId}:calls`, rate: null }, isUsed: false }
  }

  function withTasksBucket(
    tenantId: string,
    use: (bucket: Bucket) => void | Promise<void>,
  ): void | Promise<void> {
    const useIn = ({ limits }: Plan) => {
      const bucket = bucketOf(tenantId, `tenant:${tenantId}:tasks`, perHour(limits.tasksPerHour))
      return bucket === null ? undefined : use(bucket)
    }
    const plan = plans.planOf(tenantId)
    return plan instanceof Promise ? plan.then(useIn) : useIn(plan)
  }

  return {
    anonymous,
    admit: (caller) => {
      const plan = plans.planOf(caller.tenantId)
      return plan instanceof Promise
        ? plan.then((read) => admitUnder(caller, read))
        : admitUnder(caller, plan)
    },
    admitTasks: ({ tenantId }, count, admission) =>
      withTasksBucket(tenantId, async (bucket) => {
        if (count === 0) return
        const answer = await buckets.spend(bucket, count)
        const shown = shownOf(bucket, answer)
        admission.shown = answer.ok ? tighter(admission.shown, shown) : shown
        if (!answer.ok) throw new RateLimited(bucket, answer, 'tasks')
      }),
    refundTasks: ({ tenantId }, count) =>
      withTasksBucket(tenantId, (bucket) => {
        if (count > 0) buckets.refund(bucket, count)
      }),
  }
}

function perHour(limit: number): Bucket['rate'] {
  return { limit, windowMs: HOUR_MS }
}

function bucketOf(tenantId: string, name: string, rate: Bucket['rate']): Bucket | null {
  return rate.limit === 0 ? null : { tenantId, name, rate }
}

export function shownOf({ name, rate }: Bucket, { remaining, fullAt }: Spent): Shown {
  return { bucket: name, rate: { limit: rate.limit, remaining, fullAt } }
}

/** The one that is nearer to its end. */
function tighter(one: Shown, other: Shown): Shown {
  return (other.rate?.remaining ?? Infinity) < (one.rate?.remaining ?? Infinity) ? other : one
}

/** The refusal, with what the headers are to say. */
export class RateLimited extends GateError {
  readonly shown: Shown

  constructor(bucket: Bucket, spent: Spent, what: string) {
    const { limit, windowMs } = bucket.rate
    const window = windowMs === HOUR_MS ? '1h' : '1m'
    const never = spent.retryAfterMs === Infinity
    const seconds = never ? windowMs / 1_000 : Math.max(1, Math.ceil(spent.retryAfterMs / 1_000))
    const fix = never ? `Send at most ${limit} at once.` : `Try again in ${seconds} s.`
    super('rate_limit_exceeded', `The limit of ${limit} ${what} in ${window} is used up. ${fix}`, {
      retry_after: seconds,
      limit,
      window,
      bucket: bucket.name,
    })
    this.shown = shownOf(bucket, spent)
  }
}
