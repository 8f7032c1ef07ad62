// Replies that hold to the contract, for tests of the facades with handlers from a script.
import { RECEIPT_ID, TASK_ID } from './facade-kit.ts'

const NOW = '2026-11-15T09:00:00.000Z'

export const CREATED = {
  task_id: TASK_ID,
  status: 'queued',
  is_duplicate: false,
  receipt_id: RECEIPT_ID,
  inbox_on_complete: true,
}

export const OBLIGATIONS = {
  server: { name: 'asyncgate', version: '1.2.3', instance_id: 'i', uptime: 1 },
  relationship: {
    principal_kind: 'agent',
    principal_id: 'default',
    first_seen_at: NOW,
    last_seen_at: NOW,
    sessions_count: 1,
  },
  open_obligations: [],
  cursor: null,
}

export const CONFIG = {
  server: { name: 'asyncgate', version: '1.2.3', instance_id: 'i' },
  caller: { tenant_id: 'default', role: 'admin', scopes: ['tasks:read', 'tasks:write', 'admin:write'] },
  lease: { default_ttl_seconds: 300, min_ttl_seconds: 10, max_ttl_seconds: 1800, sweep_interval_seconds: 10 },
  retry: { max_attempts: 3, backoff_seconds: 30, backoff_cap_seconds: 900, max_expiries: 20 },
  list: { default_limit: 50, max_limit: 200 },
  task: { max_payload_bytes: 1_048_576 },
  receipts: { max_body_bytes: 65_536, max_parents: 10, max_artifacts: 100, locatability: 'lenient' },
  claim: { max_tasks: 1_000, max_wait_seconds: 60 },
}
