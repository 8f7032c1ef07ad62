// One worked example for each of the main operations, shown in OpenAPI, on the API page and in the reference.
import type { GateContract, Input, OperationKey } from '@asyncgate/sdk'

type Examples = { readonly [K in OperationKey]?: Input<GateContract[K]> }

const TASK = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01'
const LEASE = '0197c5a4-9a10-7f02-8e44-1c7d5a9b3e02'
const RECEIPT = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'
const held = { worker_id: 'indexer-1', task_id: TASK, lease_id: LEASE }

export const EXAMPLES: Examples = {
  createTask: {
    type: 'report.render',
    payload: { month: '2026-10' },
    summary: 'Render the October report',
    idempotency_key: 'report-2026-10',
  },
  createTasks: { tasks: [{ type: 'page.index', payload: { url: 'https://example.org/1' } }] },
  getTask: { task_id: TASK, wait_seconds: 30 },
  listTasks: { status: 'failed', dead_letter: true, limit: 20 },
  cancelTask: { task_id: TASK, reason: 'No longer wanted' },
  explainTask: { task_id: TASK },
  leaseNext: {
    worker_id: 'indexer-1',
    accept_types: ['page.index'],
    capabilities: ['browser'],
    wait_seconds: 30,
  },
  renewLease: { ...held, extend_by_seconds: 300 },
  releaseLease: { ...held, reason: 'Shutting down' },
  reportProgress: { ...held, progress: { percent: 40, message: 'Fetched 40 of 100 pages' } },
  complete: { ...held, result: { pages: 100 }, result_summary: '100 pages indexed', store_result: true },
  fail: { ...held, error: { code: 'upstream_down', message: 'The site answered 503' }, retryable: true },
  settle: {
    worker_id: 'indexer-1',
    outcomes: [
      { task_id: TASK, lease_id: LEASE, action: 'complete', result: { pages: 100 }, store_result: true },
    ],
    claim: { max_tasks: 10 },
  },
  putTaskResult: { ...held, content: 'a,b\n1,2\n', content_type: 'text/csv' },
  fetchTaskResult: { task_id: TASK },
  archiveTaskResult: { task_id: TASK, channel: 's3' },
  openObligations: { limit: 50 },
  checkTerminator: { parent_receipt_id: RECEIPT },
  listReceipts: { task_id: TASK },
  getReceipt: { receipt_id: RECEIPT },
  ackReceipt: { receipt_id: RECEIPT },
  submitReceipt: {
    receipt_type: 'x.reviewed',
    to: { kind: 'agent', id: 'default' },
    parents: [RECEIPT],
    body: { verdict: 'approved' },
  },
}
