// Handlers about the server itself.
import type { Usage } from '../../engine/usage.ts'
import type { Limits } from '../../store/tenants.ts'
import type { Handlers } from '../handler.ts'
import { limitsToWire } from '../view-limits.ts'
import type { HandlerParts } from './parts.ts'

export function systemHandlers(parts: HandlerParts): Pick<Handlers, 'getConfig'> {
  const { store, plans, list, server, claimWaitSecondsMax, sweepIntervalSeconds, channels } = parts
  return {
    getConfig: async (_input, { caller }) => {
      const { tier, limits, policy } = await plans.planOf(caller.tenantId)
      return {
        server: { name: server.name, version: server.version, instance_id: server.instanceId },
        caller: { tenant_id: caller.tenantId, role: caller.role, scopes: [...caller.scopes] },
        lease: {
          default_ttl_seconds: policy.lease.defaultTtlSeconds,
          min_ttl_seconds: policy.lease.minTtlSeconds,
          max_ttl_seconds: policy.lease.maxTtlSeconds,
          sweep_interval_seconds: sweepIntervalSeconds,
        },
        retry: {
          max_attempts: policy.retry.maxAttempts,
          backoff_seconds: policy.retry.backoffSeconds,
          backoff_cap_seconds: policy.retry.backoffCapSeconds,
          max_expiries: policy.retry.maxExpiries,
        },
        list: { default_limit: list.defaultLimit, max_limit: list.maxLimit },
        task: { max_payload_bytes: policy.task.maxPayloadBytes },
        receipts: {
          max_body_bytes: policy.receipts.maxBodyBytes,
          max_parents: policy.receipts.maxParents,
          max_artifacts: policy.receipts.maxArtifacts,
          locatability: policy.receipts.locatability,
        },
        claim: { max_tasks: policy.claim.maxTasks, max_wait_seconds: claimWaitSecondsMax },
        results: {
          channels: channels.all.map(({ name }) => name),
          default_channel: channels.large,
          inline_max_bytes: channels.inlineBytesMax,
          max_bytes: channels.bytesMax,
        },
        tier,
        limits: limitsToWire(limits),
        warnings: limits.receiptBytes === 0 ? [] : warningsOf(await store.readUsage(caller.tenantId), limits),
      }
    },
  }
}

/** Receipts are never refused for want of room: they are what proves the rest. Somebody has to be told. */
function warningsOf({ receiptBytes }: Usage, limits: Limits): string[] {
  const share = receiptBytes / limits.receiptBytes
  if (share < WARNING_SHARE) return []
  return [
    `The receipts of this tenant take ${receiptBytes} bytes; ${limits.receiptBytes} are in its tier. Ask the operator for more.`,
  ]
}

const WARNING_SHARE = 0.9
