// The specification's clauses, one line each. Every clause that is built is proved by at least one test that names it with
// `verifies`; requirements.test.ts fails on one that isn't. What is not built yet is listed as such, visibly.
import { test } from 'vitest'

export const BUILT = {
  'TASK-1': 'created_by never changes',
  'TASK-2': 'an idempotency key gives one task; another body is a conflict',
  'TASK-3': 'a delayed task stays queued and is not leased before its time',
  'TASK-4': 'a timeout bounds one execution, a deadline the whole task',
  'TASK-5': 'decisions use the clock of the server, one per batch',
  'TASK-6': 'a task waits for its dependencies, and is canceled with them or runs all the same',
  'STATE-1': 'one table decides every state × every move; illegal pairs change nothing',
  'STATE-2': 'terminal tasks never change',
  'STATE-3': 'state drives receipts, never the other way round',
  'STATE-4': 'retryable failures back off, then the task is a dead letter',
  'STATE-5': 'a lost lease counts no attempt; too many make the task poison',
  'STATE-6': 'dead letters are listed and redriven as new tasks',
  'LEASE-1': 'at most one active lease per task, under any concurrency',
  'LEASE-2': 'a claim takes what fits, by priority then age, never hidden by what does not fit',
  'LEASE-3': 'claim input is bounded and clamped; a claim can wait; no work is an empty list',
  'LEASE-4': 'lease operations need the live lease and its worker',
  'LEASE-5': 'renewals extend from now; the 11th raises an anomaly; caps refuse',
  'LEASE-6': 'release gives a task back at once and counts nothing',
  'LEASE-7': 'the sweep expires each lost lease exactly once, on any instance',
  'LEASE-8': 'tenant, concurrency key and worker capacity bound active leases',
  'LEASE-9': 'complete is idempotent; another body is refused with the winner',
  'LEASE-10': 'renew and progress answer with expires_at, or say that the task was canceled',
  'LEASE-11': 'settle and create_tasks: each item alone, all in one commit',
  'RCPT-1': 'receipts are append-only; the database refuses to change them',
  'RCPT-2': 'a task change and its receipts commit together or not at all',
  'RCPT-3': 'the hash covers exactly the named members in canonical form',
  'RCPT-4': 'the same fact twice is one receipt',
  'RCPT-5': 'a terminal receipt needs existing parents; anyone may discharge',
  'RCPT-6': 'receipts have limits; a result that does not fit stays with the task',
  'RCPT-7': 'a completion that discharges says where the result is',
  'RCPT-8': 'attach_artifacts discharges afterwards',
  'RCPT-9': 'exactly one task.result_ready per terminal task',
  'RCPT-10': 'listing returns every receipt once, in a stable order, under writers',
  'RCPT-11': 'principals submit receipts of their own types only',
  'OBL-1': 'a static table says what discharges what',
  'OBL-2': 'an obligation is open until a receipt names it',
  'OBL-3': 'open_obligations answers exactly its keys, at the cost of what is open',
  'OBL-4': 'check_terminator names the terminator',
  'OBL-5': 'bootstrap is served, deprecated',
  'OBL-6': 'anomalies are raised once per condition and change nothing',
  'OPS-1': 'unknown fields are refused by name',
  'OPS-2': 'pages are disjoint and complete',
  'OPS-3': 'every reply, log line and error carries the request id',
  'OPS-4': 'REST and MCP give equal states, hashes and codes',
  'OPS-5': 'unknown task 404, old lease 409; repetitions return the first answer',
  'OPS-6': 'limits, cursors, media types and strings are checked at their exact bounds',
  'OPS-7': 'a waiting claim wakes by creation, across instances, by time; explain names the reason',
  'MCP-1': 'Streamable HTTP and stdio, both generations, guarded',
  'MCP-2': 'tool names, aliases, and only what the scopes allow',
  'MCP-3': 'tools teach; errors say the fix',
  'MCP-5': 'instructions, bootstrap prompt, resources',
  'MCP-7': 'arguments merged, errors equal to REST',
  'ERR-1': 'every declared error on both protocols; no input gives a 500',
  'AUTH-1':
    'API keys: hashed at rest, cheap per request, revoked everywhere within a minute, rotated with overlap',
  'AUTH-3': 'every role × every operation, own objects only, on both protocols',
  'AUTH-4': 'development mode is loopback only and loud',
  'AUTH-5': 'who may name whom',
  'TEN-2': "another tenant's things are answered like things that never were",
  'AUD-1': 'refusals, acts of administration and attempts on other tenants are on record, without secrets',
  'CHAN-1': 'a result finds its place by worker, task or size; its checksum is stored, and verified on fetch',
  'CHAN-2': 'results are fetched and archived by who may read the task; email is not there yet',
  'CHAN-3': 'files stay in their folder, http at public addresses, s3 with any store; email is not there yet',
  'SDK-1': 'a typed client of every operation that repeats what is safe to repeat',
  'SDK-2': 'a worker claims, keeps its leases whatever its handlers do, reports and drains',
  'SDK-3': 'reference workers: echo, sleep_then_return, http_get, command, each within its bounds',
  'OPER-1': 'health, readiness and metrics',
  'OPER-5': 'a graceful stop loses nothing',
  'OPER-6': 'one configuration from file, environment and flags',
  'GUAR-1': 'acknowledged means durable, also after kill -9',
  'GUAR-2': 'at-least-once execution, exactly one outcome',
  'GUAR-3': 'every write is safe to retry',
  'GUAR-4': 'clocks affect when, never whether it is safe',
  'GUAR-5': 'after a crash or an outage everything is claimable again',
} as const

/** Known, and not built yet: their tests come with them. */
export const NOT_BUILT = [
  ...['MCP-4', 'MCP-6', 'AUTH-2', 'TEN-1', 'LIM-1', 'LIM-2'],
  ...['TYPE-1', 'SCH-1', 'SCH-2', 'SCH-3'],
  ...['COMPAT-1', 'COMPAT-2', 'COMPAT-3', 'COMPAT-4', 'LEDG-1', 'LEDG-2', 'LEDG-3', 'LEDG-4', 'LEDG-5'],
  ...['INBOX-1', 'OPER-2', 'OPER-3', 'OPER-4'],
] as const

export type Clause = keyof typeof BUILT

/** A test that proves clauses. It cannot name one without being a test. */
export function verifies(
  clauses: Clause | readonly Clause[],
  claim: string,
  prove: () => Promise<void> | void,
): void {
  test(`[${[clauses].flat().join(' ')}] ${claim}`, prove)
}
