// What went wrong, in words that name the next step, and the exit code for it.
import { GateError } from '@asyncgate/sdk'
import { ConfigError } from '../config.ts'
import { innermost } from './cause.ts'
import type { ExitCode } from './command.ts'

/** Called wrongly: the message says how to call. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Refused or failed for a reason that the message explains. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

export interface Failure {
  readonly exitCode: ExitCode
  readonly message: string
  /** What the user can do about it. */
  readonly next?: string
}

const NEXT_STEPS: Readonly<Record<string, string>> = {
  unauthenticated: 'Set ASYNCGATE_API_KEY to a key of that server.',
  forbidden: 'Use a key with the right that is named above.',
  database_unavailable:
    'The server has lost its database. Try again soon; "asyncgate doctor" on its machine tells more.',
  rate_limit_exceeded: 'Wait, then try again.',
  internal_error: "Look for the request id in the server's log.",
}

export function explainFailure(error: unknown, context: { url?: string | undefined }): Failure {
  if (error instanceof UsageError) return { exitCode: 2, message: error.message }
  if (error instanceof Refusal) return { exitCode: 1, message: error.message }
  if (error instanceof ConfigError) return { exitCode: isAboutFlags(error) ? 2 : 1, message: error.message }
  const database = databaseReason(error)
  if (database !== undefined) return database
  const network = networkCode(error)
  if (network === undefined) return error instanceof GateError ? explainRefusal(error) : unexpected(error)
  return {
    exitCode: 1,
    message: `No AsyncGate server answers${context.url ? ` at ${context.url}` : ''} (${network}).`,
    next: 'Start one with "asyncgate dev", or give its address with --url or ASYNCGATE_URL.',
  }
}

function explainRefusal(error: GateError): Failure {
  const { request_id: requestId } = error.details
  const message = `${error.message} [${error.code}${requestId ? `, request ${JSON.stringify(requestId)}` : ''}]`
  const next = isNoRoute(error)
    ? 'Give the address of the server without a path, as http://127.0.0.1:8420, and see that it is an AsyncGate server of this version.'
    : NEXT_STEPS[error.code]
  return next === undefined ? { exitCode: 1, message } : { exitCode: 1, message, next }
}

/** What other addresses than those of the contract are answered with. */
function isNoRoute({ code, message }: GateError): boolean {
  return code === 'not_found' && /^There is no [A-Z]+ \//.test(message)
}

/** A database of one's own (not of a server elsewhere) says itself why it is not to be had. */
function databaseReason(error: unknown): Failure | undefined {
  if (!(error instanceof GateError) || error.code !== 'database_unavailable') return undefined
  const reason = innermost(error.cause)
  if (reason === undefined) return undefined
  const message = `The database cannot be used: ${reason}`
  return {
    exitCode: 1,
    message,
    next: 'Check database.url (--database), and that the database runs. "asyncgate doctor" looks closer.',
  }
}

function isAboutFlags(error: ConfigError): boolean {
  return error.problems.every(({ where }) => where.startsWith('--'))
}

/** Why a connection failed, wherever in the chain of causes that stands. */
function networkCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError) return networkCode(at.errors[0])
    if ('code' in at && typeof at.code === 'string' && NETWORK_CODE.test(at.code)) return at.code
    if (at instanceof TypeError && at.message === 'fetch failed')
      return networkCode(at.cause) ?? messageOf(at.cause)
  }
  return undefined
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'no connection'
}

const NETWORK_CODE = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/

function unexpected(error: unknown): Failure {
  return { exitCode: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
