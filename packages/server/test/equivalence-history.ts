// One history of every operation and every error that the contract declares, as data. Texts that begin with `$` stand
// for something in the reply that an earlier step kept: `$held.tasks.0.lease_id`.
import { COMMON_ERRORS, contract, type ErrorCode, type Operation, type OperationKey } from '@asyncgate/sdk'
import type { ConfigValues } from '../src/config.ts'

/** Who calls: see equivalence.test.ts. */
export type Who = 'admin' | 'operator' | 'alice' | 'indexer' | 'stranger' | 'powerless' | 'nobody'

export type Step =
  | {
      readonly do: OperationKey
      readonly with?: Readonly<Record<string, unknown>>
      readonly as?: Who
      /** Keeps the reply under this name. */
      readonly keep?: string
      readonly fails?: ErrorCode
    }
  | { readonly advanceMs: number }
  | { readonly sweep: true }
  | { readonly database: 'down' | 'up' }

export interface History {
  readonly config: ConfigValues
  readonly steps: readonly Step[]
}

const NOWHERE = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'
const LARGE = 'a'.repeat(65_536)
const HUGE = 'a'.repeat(1_048_577)
const WRONG = { completion_metadata: { result_sha256: '0'.repeat(64) } }
const LOCATED = [{ url: 'https://example.org/report', size: 3 }]
const ERROR = { code: 'broken', message: 'no', at: { line: 1 } }
const ME = { worker_id: 'w1' }
const elevenTimes = <T>(item: T): T[] => Array.from({ length: 11 }, () => item)
const manyArtifacts = Array.from({ length: 101 }, (_, index) => ({ key: `k${index}` }))

/** What a worker sends of the first task of a claim that was kept. */
const holding = (kept: string, at = 0) => ({
  ...ME,
  task_id: `$${kept}.tasks.${at}.task_id`,
  lease_id: `$${kept}.tasks.${at}.lease_id`,
})
const claim = (keep: string, more: object = {}): Step => ({ do: 'leaseNext', with: { ...ME, ...more }, keep })

const creation: readonly Step[] = [
  { do: 'getConfig' },
  { do: 'openObligations', with: { principal_instance_id: 'session-1' } },
  {
    do: 'createTask',
    with: {
      type: 'report.render',
      payload: { ö: [1e21, 0.1, -5], nested: { list: [{}, [], null, true] } },
      payload_pointer: 's3:bucket/key',
      summary: 'a report',
      recipient: { principal_kind: 'human', principal_id: 'bob' },
      requirements: { capabilities: ['GPU'], tags: ['red', 'blue'] },
      priority: 5,
      max_attempts: 2,
      retry_backoff_seconds: 10,
      max_expiries: 3,
      idempotency_key: 'key-1',
      timeout_seconds: 600,
      deadline_at: '2026-02-01T00:00:00+02:00',
      success_criteria: { pages: 3 },
      result_delivery: 'inbox',
      expected_outcome_kind: 'file',
      expected_artifact_mime: 'application/pdf',
      metadata: { trace: 'abc' },
    },
    keep: 'report',
  },
  { do: 'createTask', with: { type: 'a', idempotency_key: 'key-2' }, keep: 'keyed' },
  { do: 'createTask', with: { idempotency_key: 'key-2', type: 'a' } },
  { do: 'createTask', with: { type: 'b', idempotency_key: 'key-2' }, fails: 'idempotency_conflict' },
  { do: 'createTask', with: { type: 'a', depends_on: [NOWHERE] }, fails: 'not_found' },
  { do: 'createTask', with: { type: 'a', parent_task_id: NOWHERE }, fails: 'not_found' },
  { do: 'createTask', with: { type: 'a', caused_by_receipt_id: NOWHERE }, fails: 'parent_not_found' },
  { do: 'createTask', with: { type: 'a', success_criteria: LARGE }, fails: 'receipt_too_large' },
  { do: 'createTask', with: { type: 'a', payload: { text: HUGE } }, fails: 'payload_too_large' },
  { do: 'createTask', with: { type: 'a', concurrency_limit: 2 }, fails: 'invalid_input' },
  { do: 'createTask', as: 'alice', with: { type: 'alice', delay_seconds: 60 }, keep: 'alices' },
  { do: 'createTask', as: 'alice', with: { type: 'a', principal_id: 'bob' }, fails: 'forbidden' },
  {
    do: 'createTasks',
    with: {
      tasks: [
        { type: 'batch', concurrency_key: 'c', concurrency_limit: 1, priority: 2 },
        { type: 'batch', concurrency_key: 'c', priority: 1 },
        { type: 'batch', depends_on: ['$keyed.task_id'], parent_task_id: '$report.task_id' },
        { type: '' },
        { type: 'batch', status: 'succeeded' },
        { type: 'batch', payload: { text: HUGE } },
        { type: 'batch', success_criteria: LARGE },
        { type: 'batch', caused_by_receipt_id: '$report.receipt_id' },
      ],
    },
    keep: 'batch',
  },
  { do: 'createTasks', with: { tasks: [] }, fails: 'invalid_input' },
]

const looking: readonly Step[] = [
  { do: 'getTask', with: { task_id: '$report.task_id' } },
  { do: 'getTask', with: { task_id: '$report.task_id' }, as: 'alice', fails: 'not_found' },
  { do: 'getTask', with: { task_id: '$report.task_id' }, as: 'stranger', fails: 'not_found' },
  { do: 'getTask', with: { task_id: NOWHERE }, fails: 'not_found' },
  { do: 'getTask', with: { task_id: '$alices.task_id' }, as: 'alice' },
  { do: 'listTasks', with: { limit: 3 }, keep: 'page' },
  { do: 'listTasks', with: { limit: 3, cursor: '$page.next_cursor' } },
  { do: 'listTasks', with: { status: 'queued', type: 'batch', dead_letter: false } },
  { do: 'listTasks', with: { tag: 'red', created_by: 'agent/default' } },
  { do: 'listTasks', as: 'alice' },
  { do: 'listTasks', as: 'stranger' },
  { do: 'listTasks', with: { limit: 201 }, fails: 'invalid_input' },
  { do: 'listTasks', with: { cursor: 'nonsense' }, fails: 'invalid_input' },
  { do: 'explainTask', with: { task_id: '$alices.task_id' } },
  { do: 'explainTask', with: { task_id: '$batch.tasks.2.task_id' } },
  { do: 'explainTask', with: { task_id: NOWHERE }, fails: 'not_found' },
  { do: 'getProgress', with: { task_id: NOWHERE }, fails: 'not_found' },
]

const working: readonly Step[] = [
  claim('nothing', { accept_types: ['no.such.type'] }),
  claim('held', { capabilities: ['gpu', 'eu'], lease_ttl_seconds: 60, accept_types: ['report.render'] }),
  { do: 'getTask', with: { task_id: '$report.task_id', worker_id: 'w1' } },
  { do: 'start', with: holding('held') },
  { do: 'start', with: holding('held') },
  { do: 'reportProgress', with: { ...holding('held'), progress: { percent: 10 } } },
  { do: 'reportProgress', with: { ...holding('held'), progress: { percent: 20, message: 'ö' } } },
  {
    do: 'reportProgress',
    with: { ...holding('held'), progress: { text: HUGE } },
    fails: 'payload_too_large',
  },
  { do: 'getProgress', with: { task_id: '$report.task_id', limit: 1 }, keep: 'progress' },
  { do: 'getProgress', with: { task_id: '$report.task_id', cursor: '$progress.next_cursor' } },
  ...elevenTimes<Step>({ do: 'renewLease', with: { ...holding('held'), extend_by_seconds: 30 } }),
  { do: 'renewLease', with: holding('held'), fails: 'lease_renewal_limit' },
  ...(['renewLease', 'releaseLease', 'start', 'complete'] as const).flatMap((key): Step[] => [
    { do: key, with: { ...holding('held'), task_id: NOWHERE }, fails: 'not_found' },
    { do: key, with: { ...holding('held'), lease_id: NOWHERE }, fails: 'lease_invalid_or_expired' },
    { do: key, with: { ...holding('held'), worker_id: 'w2' }, fails: 'lease_invalid_or_expired' },
  ]),
  { do: 'reportProgress', with: { ...holding('held'), task_id: NOWHERE, progress: {} }, fails: 'not_found' },
  {
    do: 'reportProgress',
    with: { ...holding('held'), lease_id: NOWHERE, progress: {} },
    fails: 'lease_invalid_or_expired',
  },
  { do: 'fail', with: { ...holding('held'), task_id: NOWHERE, error: ERROR }, fails: 'not_found' },
  {
    do: 'fail',
    with: { ...holding('held'), lease_id: NOWHERE, error: ERROR },
    fails: 'lease_invalid_or_expired',
  },
  { do: 'fail', with: { ...holding('held'), error: { ...ERROR, text: LARGE } }, fails: 'receipt_too_large' },
  { do: 'complete', with: { ...holding('held'), artifacts: manyArtifacts }, fails: 'receipt_too_large' },
  { do: 'complete', with: { ...holding('held'), result: HUGE }, fails: 'payload_too_large' },
  { do: 'fail', with: { ...holding('held'), error: ERROR, retry_after_seconds: 7 } },
  { do: 'fail', with: { ...holding('held'), error: ERROR, retry_after_seconds: 7 } },
  { do: 'fail', with: { ...holding('held'), error: ERROR }, fails: 'already_settled' },
  { do: 'explainTask', with: { task_id: '$report.task_id' } },
  { advanceMs: 7_000 },
  claim('lost', { capabilities: ['GPU'], lease_ttl_seconds: 10, accept_types: ['report.render'] }),
  { advanceMs: 10_000 },
  { do: 'complete', with: holding('lost'), fails: 'lease_invalid_or_expired' },
  { sweep: true },
  { advanceMs: 5_000 },
  claim('again', { capabilities: ['GPU'], accept_types: ['report.render'] }),
  { do: 'releaseLease', with: { ...holding('again'), reason: 'cannot' } },
  { do: 'releaseLease', with: { ...holding('again'), reason: 'cannot' } },
  { do: 'releaseLease', with: { ...holding('again'), reason: 'other' }, fails: 'already_settled' },
  claim('last', { capabilities: ['GPU'], accept_types: ['report.render'] }),
  {
    do: 'complete',
    with: {
      ...holding('last'),
      result: { pages: 3 },
      result_summary: 'three pages',
      artifacts: LOCATED,
      delivery_proof: { mode: 'push', target: 't', status: 'ok', at: '2026-01-01T00:00:00Z', proof: null },
      completion_metadata: { seconds: 12 },
    },
    keep: 'completed',
  },
  { do: 'complete', with: holding('last'), fails: 'already_settled' },
  { do: 'getTask', with: { task_id: '$report.task_id' } },
  { do: 'cancelTask', with: { task_id: '$report.task_id' } },
]

const settling: readonly Step[] = [
  claim('two', { accept_types: ['batch'], max_tasks: 5, preferred_types: ['batch'], capacity: 3 }),
  {
    do: 'settle',
    with: {
      ...ME,
      outcomes: [
        { task_id: '$two.tasks.0.task_id', lease_id: '$two.tasks.0.lease_id', action: 'renew' },
        {
          task_id: '$two.tasks.0.task_id',
          lease_id: '$two.tasks.0.lease_id',
          action: 'progress',
          progress: { percent: 1 },
        },
        {
          task_id: '$two.tasks.0.task_id',
          lease_id: '$two.tasks.0.lease_id',
          action: 'complete',
          result: 1,
          store_result: true,
        },
        { task_id: '$two.tasks.1.task_id', lease_id: NOWHERE, action: 'release' },
        {
          task_id: '$two.tasks.1.task_id',
          lease_id: '$two.tasks.1.lease_id',
          action: 'complete',
          result: HUGE,
        },
        { task_id: '$two.tasks.1.task_id', lease_id: '$two.tasks.1.lease_id', action: 'unknown' },
        {
          task_id: '$two.tasks.1.task_id',
          lease_id: '$two.tasks.1.lease_id',
          action: 'fail',
          error: ERROR,
          retryable: false,
        },
        { task_id: NOWHERE, lease_id: NOWHERE, action: 'release' },
      ],
      claim: { accept_types: ['batch', 'a'], max_tasks: 10 },
    },
    keep: 'settled',
  },
  { do: 'settle', with: { ...ME, outcomes: [] } },
  { do: 'settle', with: { ...ME, outcomes: 'none' }, fails: 'invalid_input' },
  { do: 'complete', with: holding('settled', 0), keep: 'unlocated' },
  { do: 'complete', with: holding('settled', 0) },
]

const ledger: readonly Step[] = [
  { do: 'openObligations', with: { limit: 2 }, keep: 'owed' },
  { do: 'openObligations', with: { limit: 2, cursor: '$owed.cursor' } },
  { do: 'openObligations', with: { principal_kind: 'human', principal_id: 'bob' } },
  { do: 'openObligations', with: { cursor: '$page.next_cursor' }, fails: 'invalid_input' },
  {
    do: 'attachArtifacts',
    with: { task_id: '$settled.tasks.0.task_id', artifacts: [{ name: 'x' }] },
    fails: 'locatability_required',
  },
  {
    do: 'attachArtifacts',
    with: { task_id: '$settled.tasks.0.task_id', artifacts: manyArtifacts },
    fails: 'receipt_too_large',
  },
  { do: 'attachArtifacts', with: { task_id: NOWHERE, artifacts: LOCATED }, fails: 'not_found' },
  {
    do: 'attachArtifacts',
    with: { task_id: '$alices.task_id', artifacts: LOCATED },
    fails: 'invalid_transition',
  },
  { do: 'attachArtifacts', with: { task_id: '$settled.tasks.0.task_id', ...ME, artifacts: LOCATED } },
  { do: 'attachArtifacts', with: { task_id: '$settled.tasks.0.task_id', ...ME, artifacts: LOCATED } },
  { do: 'cancelTask', with: { task_id: '$alices.task_id', reason: 'not wanted' }, as: 'alice' },
  { do: 'cancelTask', with: { task_id: '$alices.task_id' }, as: 'alice' },
  { do: 'cancelTask', with: { task_id: NOWHERE }, fails: 'not_found' },
  { do: 'retryTask', with: { task_id: '$two.tasks.1.task_id' }, keep: 'redriven' },
  { do: 'retryTask', with: { task_id: '$two.tasks.1.task_id' } },
  { do: 'retryTask', with: { task_id: '$alices.task_id' }, fails: 'invalid_transition' },
  { do: 'retryTask', with: { task_id: NOWHERE }, fails: 'not_found' },
  { do: 'getTask', with: { task_id: '$redriven.task_id' } },
  { do: 'checkTerminator', with: { parent_receipt_id: '$report.receipt_id' } },
  { do: 'checkTerminator', with: { parent_receipt_id: '$redriven.receipt_id' } },
  { do: 'checkTerminator', with: { parent_receipt_id: NOWHERE }, fails: 'not_found' },
  { do: 'listReceipts', with: { limit: 4 }, keep: 'receipts' },
  { do: 'listReceipts', with: { limit: 4, cursor: '$receipts.next_cursor' } },
  { do: 'listReceipts', with: { task_id: '$report.task_id', since_receipt_id: '$report.receipt_id' } },
  { do: 'listReceipts', with: { to_kind: 'human', to_id: 'bob', receipt_type: 'task.result_ready' } },
  { do: 'listReceipts', with: { from_kind: 'worker', from_id: 'w1' }, as: 'admin' },
  { do: 'listReceipts', as: 'stranger' },
  { do: 'listReceipts', with: { since_receipt_id: NOWHERE }, fails: 'not_found' },
  { do: 'getReceipt', with: { receipt_id: '$completed.receipt_id' } },
  { do: 'getReceipt', with: { receipt_id: '$completed.receipt_id' }, as: 'stranger', fails: 'not_found' },
  { do: 'getReceipt', with: { receipt_id: NOWHERE }, fails: 'not_found' },
  { do: 'ackReceipt', with: { receipt_id: '$completed.receipt_id' } },
  { do: 'ackReceipt', with: { receipt_id: '$completed.receipt_id' } },
  { do: 'ackReceipt', with: { receipt_id: NOWHERE }, fails: 'not_found' },
]

const to = { kind: 'agent', id: 'default' }
const submitting: readonly Step[] = [
  { do: 'submitReceipt', with: { receipt_type: 'schedule.created', to, schedule_id: 's' }, keep: 'schedule' },
  { do: 'submitReceipt', with: { receipt_type: 'schedule.created', to, schedule_id: 's' } },
  {
    do: 'submitReceipt',
    with: {
      receipt_type: 'x.note',
      to,
      parents: ['$report.receipt_id', '$schedule.receipt_id'],
      task_id: '$report.task_id',
      body: { '\u20ac': 1e21, '\ufb33': -0.5, '😀': 5e-324, a: { c: [], b: null } },
    },
  },
  { do: 'submitReceipt', with: { receipt_type: 'x.note', to, task_id: NOWHERE }, fails: 'not_found' },
  { do: 'submitReceipt', with: { receipt_type: 'task.completed', to }, fails: 'invalid_input' },
  { do: 'submitReceipt', with: { receipt_type: 'schedule.deleted', to }, fails: 'parents_required' },
  {
    do: 'submitReceipt',
    with: { receipt_type: 'x.note', to, parents: [NOWHERE] },
    fails: 'parent_not_found',
  },
  {
    do: 'submitReceipt',
    with: { receipt_type: 'x.note', to, body: { text: LARGE } },
    fails: 'receipt_too_large',
  },
  { do: 'submitReceipt', with: { receipt_type: 'schedule.deleted', to, parents: ['$schedule.receipt_id'] } },
  { do: 'bootstrap', with: { max_items: 3 }, keep: 'inbox' },
  { do: 'bootstrap', with: { since_receipt_id: '$inbox.cursor.latest_receipt_id' } },
  { do: 'bootstrap', with: { since_receipt_id: NOWHERE }, fails: 'not_found' },
  { do: 'openObligations', with: { principal_instance_id: 'session-2' } },
]

/** Leases of a worker's own credential, and what its scopes do not allow. */
const credentials: readonly Step[] = [
  { do: 'createTask', with: { type: 'index' } },
  { do: 'leaseNext', as: 'indexer', with: { worker_id: 'indexer-1', accept_types: ['index'] }, keep: 'own' },
  { do: 'leaseNext', as: 'indexer', with: { worker_id: 'other' }, fails: 'forbidden' },
  {
    do: 'complete',
    as: 'indexer',
    with: { ...holding('own'), worker_id: 'indexer-1', store_result: true },
  },
  { do: 'getConfig', as: 'indexer' },
  { do: 'getConfig', as: 'powerless' },
]

/** The least that each operation needs to get as far as its handler. */
export const LEAST: Record<OperationKey, Record<string, unknown>> = {
  createTask: { type: 'a' },
  createTasks: { tasks: [{ type: 'a' }] },
  getTask: { task_id: NOWHERE },
  listTasks: {},
  cancelTask: { task_id: NOWHERE },
  retryTask: { task_id: NOWHERE },
  explainTask: { task_id: NOWHERE },
  getProgress: { task_id: NOWHERE },
  attachArtifacts: { task_id: NOWHERE, artifacts: LOCATED },
  leaseNext: ME,
  renewLease: { ...ME, task_id: NOWHERE, lease_id: NOWHERE },
  releaseLease: { ...ME, task_id: NOWHERE, lease_id: NOWHERE },
  start: { ...ME, task_id: NOWHERE, lease_id: NOWHERE },
  reportProgress: { ...ME, task_id: NOWHERE, lease_id: NOWHERE, progress: {} },
  complete: { ...ME, task_id: NOWHERE, lease_id: NOWHERE },
  fail: { ...ME, task_id: NOWHERE, lease_id: NOWHERE, error: ERROR },
  settle: { ...ME, claim: {} },
  putTaskResult: { ...ME, task_id: NOWHERE, lease_id: NOWHERE, content: 'x' },
  fetchTaskResult: { task_id: NOWHERE },
  archiveTaskResult: { task_id: NOWHERE, channel: 'blob' },
  openObligations: {},
  checkTerminator: { parent_receipt_id: NOWHERE },
  listReceipts: {},
  getReceipt: { receipt_id: NOWHERE },
  ackReceipt: { receipt_id: NOWHERE },
  submitReceipt: { receipt_type: 'x.note', to },
  bootstrap: {},
  getConfig: {},
  createKey: { role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } },
  listKeys: {},
  rotateKey: { key_id: NOWHERE },
  revokeKey: { key_id: NOWHERE },
  createWorkerKey: { worker_id: 'indexer' },
  putTaskType: { task_type: 'nowhere' },
  listTaskTypes: {},
  getTaskType: { task_type: 'nowhere' },
  deleteTaskType: { task_type: 'nowhere' },
  setRegisteredOnly: { registered_only: false },
  createAccount: {
    username: 'ada',
    role: 'agent',
    principal: { principal_kind: 'human', principal_id: 'ada' },
    password: 'a long enough password',
  },
  listAccounts: {},
  setAccountPassword: { account_id: NOWHERE, password: 'a long enough password' },
  disableAccount: { account_id: NOWHERE },
  enableAccount: { account_id: NOWHERE },
  registerClient: { name: 'Editor', redirect_uris: ['https://editor.example.org/back'] },
  listClients: {},
  revokeClient: { client_id: NOWHERE },
  listAudit: {},
  createTenant: { tenant_id: 'acme' },
  listTenants: {},
  limitTenant: { tenant_id: 'nowhere', tier: 'paid' },
  suspendTenant: { tenant_id: 'nowhere' },
  resumeTenant: { tenant_id: 'nowhere' },
  createTenantKey: {
    tenant_id: 'nowhere',
    principal: { principal_kind: 'human', principal_id: 'wile' },
  },
}

const keys: readonly Step[] = [
  { do: 'createKey', with: LEAST.createKey, keep: 'key' },
  {
    do: 'createKey',
    with: {
      role: 'service',
      principal: { principal_kind: 'service', principal_id: 'scheduler' },
      scopes: ['tasks:lease', 'tasks:write'],
      name: 'the scheduler',
      expires_at: '2099-01-01T00:00:00Z',
    },
  },
  {
    do: 'createKey',
    with: { ...LEAST.createKey, expires_at: '1999-01-01T00:00:00Z' },
    fails: 'invalid_input',
  },
  { do: 'createWorkerKey', with: { worker_id: 'indexer', capabilities: ['gpu'] } },
  { do: 'rotateKey', with: { key_id: '$key.key_id', overlap_seconds: 60 }, keep: 'rotated' },
  { do: 'rotateKey', with: { key_id: '$key.key_id' }, as: 'stranger', fails: 'not_found' },
  { do: 'revokeKey', with: { key_id: '$key.key_id' }, as: 'stranger', fails: 'not_found' },
  { do: 'revokeKey', with: { key_id: '$rotated.key_id' } },
  { do: 'revokeKey', with: { key_id: '$rotated.key_id' } },
  { do: 'rotateKey', with: { key_id: '$rotated.key_id' }, fails: 'invalid_transition' },
  { do: 'rotateKey', with: { key_id: NOWHERE }, fails: 'not_found' },
  { do: 'listKeys', with: { limit: 2 }, keep: 'keys' },
  { do: 'listKeys', with: { cursor: '$keys.next_cursor' } },
  // Rows have ids of their own, so that only an empty page is equal everywhere; audit.test.ts looks into them.
  { do: 'listAudit', with: { event: 'audit.incomplete' } },
]

const PAGES = {
  type: 'object',
  properties: { pages: { type: 'integer', minimum: 1 } },
  required: ['pages'],
  additionalProperties: false,
}
const typed = (payload: object, more: object = {}) => ({ type: 'typed', payload, ...more })
const types: readonly Step[] = [
  {
    do: 'putTaskType',
    with: {
      task_type: 'typed',
      description: 'prints pages',
      params_schema: PAGES,
      default_priority: 7,
      default_max_attempts: 1,
      default_timeout_seconds: 60,
      default_retention_days: 9,
      default_result_channel: 'blob',
      estimated_runtime_seconds: 20,
      poll_suggestion_seconds: 5,
      max_payload_bytes: 1_000,
      max_concurrent: 1,
    },
  },
  {
    do: 'putTaskType',
    with: { task_type: 'typed', params_schema: { type: 'text' } },
    fails: 'invalid_input',
  },
  { do: 'createTask', with: typed({ pages: 3 }, { idempotency_key: 'typed' }), keep: 'typed' },
  { do: 'createTask', with: typed({ pages: 0 }), fails: 'schema_violation' },
  { do: 'createTask', with: typed({}), fails: 'schema_violation' },
  { do: 'createTask', with: typed({ pages: 1, 'a/b': 1 }), fails: 'schema_violation' },
  { do: 'createTask', with: typed({ pages: 1 }, { concurrency_key: 'k' }), fails: 'invalid_input' },
  { do: 'createTasks', with: { tasks: [typed({ pages: 1 }), typed({ pages: 'x' }), typed({ pages: 2 })] } },
  { do: 'getTask', with: { task_id: '$typed.task_id' } },
  claim('typed-claim', { accept_types: ['typed'], max_tasks: 3 }),
  { do: 'explainTask', with: { task_id: '$typed.task_id' } },
  { do: 'fail', with: { ...holding('typed-claim'), error: ERROR } },
  { do: 'putTaskType', with: { task_type: 'typed', params_schema: { required: ['colour'] } } },
  { do: 'retryTask', with: { task_id: '$typed-claim.tasks.0.task_id' }, fails: 'schema_violation' },
  { do: 'createTask', with: typed({ pages: 3 }, { idempotency_key: 'typed' }) },
  { do: 'putTaskType', with: { task_type: 'typed', enabled: false } },
  { do: 'createTask', with: typed({}), fails: 'invalid_input' },
  { do: 'listTaskTypes', with: { limit: 1 }, as: 'alice' },
  { do: 'getTaskType', with: { task_type: 'typed' }, as: 'alice' },
  { do: 'getTaskType', with: { task_type: 'typed' }, as: 'stranger', fails: 'not_found' },
  { do: 'deleteTaskType', with: { task_type: 'typed' }, as: 'stranger', fails: 'not_found' },
  { do: 'setRegisteredOnly', with: { registered_only: true } },
  { do: 'createTask', with: { type: 'unheard of' }, fails: 'invalid_input' },
  { do: 'createTask', with: { type: 'unheard of' }, as: 'stranger' },
  { do: 'setRegisteredOnly', with: { registered_only: false } },
  { do: 'deleteTaskType', with: { task_type: 'typed' } },
  { do: 'getTaskType', with: { task_type: 'typed' }, fails: 'not_found' },
]

const ofAccount = (name: string) => ({ account_id: `$${name}.account_id` })
const signIn: readonly Step[] = [
  { do: 'createAccount', with: LEAST.createAccount, keep: 'ada' },
  { do: 'createAccount', with: LEAST.createAccount, fails: 'invalid_input' },
  { do: 'createAccount', with: LEAST.createAccount, as: 'stranger' },
  {
    do: 'createAccount',
    with: { ...LEAST.createAccount, username: 'eve@example.org', password: undefined, subject: '248' },
  },
  {
    do: 'createAccount',
    with: { ...LEAST.createAccount, username: 'mallory', password: undefined },
    fails: 'invalid_input',
  },
  {
    do: 'createAccount',
    with: { ...LEAST.createAccount, username: 'short', password: 'eleven char' },
    fails: 'invalid_input',
  },
  { do: 'setAccountPassword', with: { ...LEAST.setAccountPassword, ...ofAccount('ada') } },
  { do: 'disableAccount', with: ofAccount('ada') },
  { do: 'disableAccount', with: ofAccount('ada') },
  { do: 'enableAccount', with: ofAccount('ada') },
  ...(['setAccountPassword', 'disableAccount', 'enableAccount'] as const).flatMap((key): Step[] => [
    { do: key, with: { ...LEAST[key], ...ofAccount('ada') }, as: 'stranger', fails: 'not_found' },
    { do: key, with: LEAST[key], fails: 'not_found' },
  ]),
  { do: 'listAccounts', with: { limit: 1 }, keep: 'accounts' },
  { do: 'listAccounts', with: { cursor: '$accounts.next_cursor' } },
  { do: 'registerClient', with: LEAST.registerClient, keep: 'editor' },
  { do: 'registerClient', with: { name: 'Shell', redirect_uris: ['http://127.0.0.1/back', 'shell:/back'] } },
  {
    do: 'registerClient',
    with: { name: 'Wrong', redirect_uris: ['http://example.org/'] },
    fails: 'invalid_input',
  },
  { do: 'revokeClient', with: { client_id: '$editor.client_id' }, as: 'stranger', fails: 'not_found' },
  { do: 'revokeClient', with: { client_id: '$editor.client_id' } },
  { do: 'revokeClient', with: LEAST.revokeClient, fails: 'not_found' },
  { do: 'listClients', with: { limit: 1 }, keep: 'clients' },
  { do: 'listClients', with: { cursor: '$clients.next_cursor' } },
]

const ACME = { tenant_id: 'acme' }
const tenants: readonly Step[] = (
  [
    { do: 'createTenant', with: { ...ACME, name: 'Acme Inc.' } },
    { do: 'createTenant', with: ACME },
    { do: 'createTenantKey', with: { ...LEAST.createTenantKey, ...ACME } },
    { do: 'createTenantKey', with: LEAST.createTenantKey, fails: 'not_found' },
    { do: 'limitTenant', with: { ...ACME, tier: 'free', active_tasks: 0 } },
    { do: 'limitTenant', with: LEAST.limitTenant, fails: 'not_found' },
    { do: 'suspendTenant', with: ACME },
    { do: 'suspendTenant', with: LEAST.suspendTenant, fails: 'not_found' },
    { do: 'suspendTenant', with: { tenant_id: 'default' }, fails: 'invalid_transition' },
    { do: 'listTenants', with: { limit: 1 }, keep: 'tenants' },
    { do: 'listTenants', with: { cursor: '$tenants.next_cursor' } },
    { do: 'resumeTenant', with: ACME },
    { do: 'resumeTenant', with: LEAST.resumeTenant, fails: 'not_found' },
  ] as const satisfies readonly Step[]
).map((step) => ({ ...step, as: 'operator' }))

const OPERATIONS = Object.keys(contract) as OperationKey[]
/** Who gets as far as the handler. */
const ableTo = (key: OperationKey): Who => {
  const { role }: Operation = contract[key]
  return role ?? 'admin'
}
const everyOperation = (fails: ErrorCode, more: object, only: (key: OperationKey) => boolean = () => true) =>
  OPERATIONS.filter(only).map((key): Step => ({ do: key, with: LEAST[key], as: ableTo(key), fails, ...more }))

const common: readonly Step[] = [
  ...OPERATIONS.map(
    (key): Step => ({
      do: key,
      with: { ...LEAST[key], unknown_field: 'x' },
      as: ableTo(key),
      fails: 'invalid_input',
    }),
  ),
  ...OPERATIONS.filter((key) => !('tenant_id' in contract[key].input.shape)).map(
    (key): Step => ({
      do: key,
      with: { ...LEAST[key], tenant_id: 'x' },
      as: ableTo(key),
      fails: 'invalid_input',
    }),
  ),
  ...everyOperation('unauthenticated', { as: 'nobody' }),
  ...everyOperation('forbidden', { as: 'powerless' }, (key) => key !== 'getConfig'),
  { database: 'down' },
  ...everyOperation('database_unavailable', {}, (key) => key !== 'getConfig'),
  { database: 'up' },
  { do: 'listTasks' },
]

/** Longer than a receipt may be, so that only the checksum in it tells what it was. */
const LONG_RESULT = { text: LARGE }

/** Results in channels; one that nobody can reach, and one that is not what its receipt says. */
const results: readonly Step[] = [
  ...['kept', 'wrong', 'away', 'open'].map(
    (type): Step => ({ do: 'createTask', with: { type }, keep: `${type}Task` }),
  ),
  ...['kept', 'wrong', 'away', 'open'].map((type) => claim(type, { accept_types: [type] })),
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), content: LARGE, content_type: 'text/plain' },
    keep: 'put',
  },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), content: 'c21hbGw=', encoding: 'base64' },
    keep: 'small',
  },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), content: 'no base64', encoding: 'base64' },
    fails: 'invalid_input',
  },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), channel: 'file', content: 'x' },
    fails: 'invalid_input',
  },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), channel: 'http', content: 'x' },
    fails: 'invalid_input',
  },
  { do: 'putTaskResult', with: { ...holding('kept') }, fails: 'invalid_input' },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), channel: 's3', content: 'x' },
    fails: 'channel_unavailable',
  },
  { do: 'putTaskResult', with: { ...holding('kept'), task_id: NOWHERE, content: 'x' }, fails: 'not_found' },
  {
    do: 'putTaskResult',
    with: { ...holding('kept'), lease_id: NOWHERE, content: 'x' },
    fails: 'lease_invalid_or_expired',
  },
  { do: 'complete', with: { ...holding('kept'), artifacts: ['$put', '$small'] } },
  { do: 'complete', with: { ...holding('wrong'), result: LONG_RESULT, store_result: true, ...WRONG } },
  { do: 'complete', with: { ...holding('away'), artifacts: [{ pointer: 'http:http://nowhere.invalid/x' }] } },
  { do: 'fetchTaskResult', with: { task_id: '$keptTask.task_id' }, keep: 'part' },
  {
    do: 'fetchTaskResult',
    with: { task_id: '$keptTask.task_id', offset: '$part.next_offset', max_bytes: 10 },
  },
  { do: 'fetchTaskResult', with: { task_id: '$keptTask.task_id', pointer: '$small.pointer' } },
  { do: 'fetchTaskResult', with: { task_id: '$keptTask.task_id', offset: 70_000 }, fails: 'invalid_input' },
  { do: 'fetchTaskResult', with: { task_id: '$keptTask.task_id', pointer: 'blob:x' }, fails: 'not_found' },
  ...(['fetchTaskResult', 'archiveTaskResult'] as const).flatMap((operation): Step[] => {
    const more = operation === 'archiveTaskResult' ? { channel: 'blob' } : {}
    const failing = (task_id: string, fails: ErrorCode): Step => ({
      do: operation,
      with: { task_id, ...more },
      fails,
    })
    return [
      failing('$openTask.task_id', 'invalid_transition'),
      failing('$wrongTask.task_id', 'checksum_mismatch'),
      failing('$awayTask.task_id', 'channel_unavailable'),
      failing(NOWHERE, 'not_found'),
    ]
  }),
  { do: 'archiveTaskResult', with: { task_id: '$keptTask.task_id', channel: 'blob' } },
  { do: 'archiveTaskResult', with: { task_id: '$keptTask.task_id', channel: 'blob' } },
  {
    do: 'archiveTaskResult',
    with: { task_id: '$keptTask.task_id', channel: 'file' },
    fails: 'invalid_input',
  },
  { do: 'fetchTaskResult', with: { task_id: '$keptTask.task_id' } },
]

const strict: readonly Step[] = [
  { do: 'createTask', with: { type: 'a' }, keep: 'task' },
  claim('held'),
  { do: 'complete', with: { ...holding('held'), result: 1 }, fails: 'locatability_required' },
  { do: 'complete', with: { ...holding('held'), result: 1, store_result: true } },
  { do: 'getTask', with: { task_id: '$task.task_id' } },
]

const full: readonly Step[] = [
  { do: 'createTask', with: { type: 'a' } },
  claim('held'),
  { do: 'fail', with: { ...holding('held'), error: ERROR, retryable: false } },
  { do: 'createTask', with: { type: 'a', idempotency_key: 'k' } },
  { do: 'createTasks', with: { tasks: [{ type: 'a' }, { type: 'a' }] } },
  { do: 'createTask', with: { type: 'a' }, fails: 'quota_exceeded' },
  { do: 'createTask', with: { type: 'a', idempotency_key: 'k' } },
  { do: 'retryTask', with: { task_id: '$held.tasks.0.task_id' }, fails: 'quota_exceeded' },
]

export const HISTORIES: Readonly<Record<string, History>> = {
  'all operations and errors': {
    config: { lease: { max_renewals: 11 } },
    steps: [
      ...creation,
      ...looking,
      ...working,
      ...settling,
      ...ledger,
      ...submitting,
      ...credentials,
      ...keys,
      ...signIn,
      ...tenants,
      ...types,
      ...common,
    ],
  },
  'a quota that is used up': { config: { task: { max_active: 2 } }, steps: full },
  'results in channels': {
    config: { channels: { s3_bucket: 'results', s3_endpoint: 'http://127.0.0.1:9' } },
    steps: results,
  },
  'strict locatability': { config: { receipts: { locatability: 'strict' } }, steps: strict },
}

/** Errors that any operation declares and that no step can bring about, with the reason. */
export const NOT_PRODUCIBLE: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'the door refuses before it looks at the operation; limits.test.ts tries every one',
  internal_error:
    'a defect of ours, never an answer to an input; the facade is tested with a handler that throws',
  'getConfig forbidden': 'open to every caller',
  'getConfig database_unavailable': 'answered without the database',
}

/** Only these take something whose size has a limit of its own; for the others the whole body has one (bad-input.test.ts). */
export const SIZED: readonly OperationKey[] = ['createTask', 'complete', 'reportProgress']

export function declaredErrors(): { key: OperationKey; code: ErrorCode }[] {
  return OPERATIONS.flatMap((key) => {
    const { errors }: Operation = contract[key]
    const sized = COMMON_ERRORS.filter((code) => code !== 'payload_too_large' || SIZED.includes(key))
    return [...errors, ...sized]
      .filter((code) => !(code in NOT_PRODUCIBLE) && !(`${key} ${code}` in NOT_PRODUCIBLE))
      .map((code) => ({ key, code }))
  })
}
