// Operations about the server itself.
import { z } from 'zod'
import { operation } from './operation.ts'
import { LimitsInForce, TIERS } from './tenant.ts'

export const systemOperations = {
  getConfig: operation({
    summary: 'The limits and defaults that this server works with.',
    guide: 'Use it to learn lease lengths, page sizes and size limits. No secrets are in it.',
    route: 'GET /v1/config',
    scopes: [],
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({}),
    output: z.object({
      server: z.object({ name: z.string(), version: z.string(), instance_id: z.string() }),
      caller: z.object({ tenant_id: z.string(), role: z.string(), scopes: z.array(z.string()) }),
      lease: z.object({
        default_ttl_seconds: z.number(),
        min_ttl_seconds: z.number(),
        max_ttl_seconds: z.number(),
        sweep_interval_seconds: z.number(),
      }),
      retry: z.object({
        max_attempts: z.number(),
        backoff_seconds: z.number(),
        backoff_cap_seconds: z.number(),
        max_expiries: z.number(),
      }),
      list: z.object({ default_limit: z.number(), max_limit: z.number() }),
      task: z.object({ max_payload_bytes: z.number() }),
      receipts: z.object({
        max_body_bytes: z.number(),
        max_parents: z.number(),
        max_artifacts: z.number(),
        locatability: z.enum(['lenient', 'strict']),
      }),
      claim: z.object({ max_tasks: z.number(), max_wait_seconds: z.number() }),
      tier: z.enum(TIERS),
      limits: LimitsInForce.describe('Of your tenant; 0 = unlimited.'),
      warnings: z.array(z.string()).describe('Limits that are nearly or wholly used up.'),
      results: z.object({
        channels: z.array(z.string()),
        default_channel: z
          .string()
          .nullable()
          .describe('Where results go that are too large to be inline; null where there is no such place.'),
        inline_max_bytes: z.number(),
        max_bytes: z.number(),
      }),
    }),
  }),
}
