// Token buckets as the limiter sees them: spend all of a cost or nothing, at once wherever that is possible.
import type { Rate } from '../engine/token-bucket.ts'

export interface Bucket {
  readonly tenantId: string
  readonly name: string
  readonly rate: Rate
}

export interface Spent {
  readonly ok: boolean
  /** Tokens that are left, as far as this process knows. */
  readonly remaining: number
  /** When the bucket is full again, if nobody spends. */
  readonly fullAt: number
  /** Until there is enough; 0 when it was enough, Infinity when it never will be. */
  readonly retryAfterMs: number
}

export interface Buckets {
  spend(bucket: Bucket, cost: number): Spent | Promise<Spent>
  /** What was spent on something that then was not done. */
  refund(bucket: Bucket, cost: number): void
  /** Forgets what is idle; to be called every few seconds. */
  sweep(): Promise<void>
  close(): Promise<void>
}

export function keyOf(bucket: Bucket): string {
  return `${bucket.tenantId}\n${storedName(bucket)}`
}

/** Another figure is another bucket, and a full one: whoever is given more has it at once. */
export function storedName({ name, rate }: Bucket): string {
  return `${name}:${rate.limit}`
}
