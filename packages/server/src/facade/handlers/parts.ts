// What handlers are made of, and what several of them share.
import { type Each, GateError } from '@asyncgate/sdk'
import { isAdmin, type Principal } from '../../auth/caller.ts'
import type { HashCost } from '../../auth/secret-hash.ts'
import type { Channels } from '../../channel/open.ts'
import type { Clock } from '../../clock.ts'
import type { Actor } from '../../engine/command.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Policy } from '../../engine/policy.ts'
import type { RecentWorkers } from '../../engine/recent-workers.ts'
import type { Ids, Random } from '../../ids.ts'
import type { TenantPlans } from '../../limits/tenant-plans.ts'
import type { Store } from '../../store/port.ts'
import type { TypeRegistry } from '../../task-type/registry.ts'
import type { CallContext } from '../handler.ts'
import type { ListBounds } from '../page.ts'

export interface HandlerParts {
  readonly engine: Engine
  readonly store: Store
  readonly policy: Policy
  readonly plans: TenantPlans
  readonly channels: Channels
  readonly list: ListBounds
  readonly claimWaitSecondsMax: number
  readonly sweepIntervalSeconds: number
  readonly workers: RecentWorkers
  readonly types: TypeRegistry
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  /** Default what AUTH-1 asks for. */
  readonly hashCost?: HashCost
  readonly onClaim: (event: { readonly durationMs: number; readonly grantedCount: number }) => void
  readonly server: {
    readonly name: string
    readonly version: string
    readonly instanceId: string
    readonly startedAt: number
  }
}

export function actorOf({ caller, acting }: CallContext): Actor {
  return { principal: acting, sees: isAdmin(caller) ? 'all' : 'own' }
}

/** Lists are limited to what concerns the principal, unless it is an administrator. */
export function concerning({ caller, acting }: CallContext): Principal | null {
  return isAdmin(caller) ? null : acting
}

/** Its size, if it is within the limit. */
export function assertFits(what: string, value: unknown, policy: Policy): number {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '')
  const { maxPayloadBytes } = policy.task
  if (bytes <= maxPayloadBytes) return bytes
  const fix =
    what === 'result'
      ? 'Upload it with put_task_result, where the server has a channel for it (channels.blob_path, channels.s3_bucket), or send a pointer.'
      : 'Store it elsewhere and send a pointer.'
  throw new GateError(
    'payload_too_large',
    `Field "${what}" has ${bytes} bytes of JSON, the limit is ${maxPayloadBytes}. ${fix}`,
    { field: what, bytes, limit: maxPayloadBytes },
  )
}

export function orNull<T>(value: T | undefined): T | null {
  return value ?? null
}

/** The next step for an item of a batch: a refusal stays in the item's own place. */
export function eachThen<T, U>(item: Each<T>, next: (value: T) => U): Each<U> {
  if (!item.ok) return item
  try {
    return { ok: true, value: next(item.value) }
  } catch (error) {
    if (error instanceof GateError) return { ok: false, error, written: item.value }
    throw error
  }
}
