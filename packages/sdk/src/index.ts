// What programs that use AsyncGate import: the contract, its errors, the client made from it, and the worker.
export * from './canonical-json.ts'
export { AUDIT_EVENTS, type AuditEvent, type AuditSeverity } from './contract/audit.ts'
export { ACCOUNT_ROLES } from './contract/account.ts'
export * from './contract/fields.ts'
export * from './contract/index.ts'
export * from './contract/operation.ts'
export { NESTING_MAX } from './contract/clean-json.ts'
export { type Each, each, invalidInput, jsonSchema, parseInput } from './contract/parse.ts'
export { LeasedTask } from './contract/lease.ts'
export { isRedirectUri } from './contract/oauth-client.ts'
export { Receipt } from './contract/receipt.ts'
export { NewTask } from './contract/new-task.ts'
export { Task, TaskResult } from './contract/task.ts'
export { type Tier, TIERS } from './contract/tenant.ts'
export * from './errors.ts'
export type { Content, ContentCalls, Download, UploadOptions, UploadProgress } from './client/content.ts'
export { type CallOptions, type Client, type ClientOptions, createClient, type Reply } from './client.ts'
export {
  type FailureOptions,
  FatalError,
  type LeaseEnd,
  LeaseEndedError,
  RetryableError,
} from './worker/errors.ts'
export type { TaskEnd, WorkerEvent, WorkerLog } from './worker/events.ts'
export type {
  Handler,
  Progress,
  StoredResult as UploadedResult,
  TaskContext,
  UploadChoice,
} from './worker/execution.ts'
export { type Completion, completed } from './worker/outcome.ts'
export type { PayloadSchema } from './worker/payload.ts'
export { createWorker, type TaskOptions, type Worker, type WorkerOptions } from './worker/worker.ts'
export type { WorkerClock } from './worker/clock.ts'
