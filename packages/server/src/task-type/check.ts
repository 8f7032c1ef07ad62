// Checks payloads against the schemas of their types. One call's worth of checks ends within a bound of time: an ordinary one
// takes microseconds and is done directly, what could be slow is watched.
import { GateError } from '@asyncgate/sdk'
import type { ErrorObject } from 'ajv'
import type { JsonObject } from '../engine/model.ts'
import type { PayloadSchema } from './schema.ts'
import { isDoneWithin } from './watchdog.ts'

export interface Check {
  readonly type: string
  readonly payload: JsonObject
  readonly bytes: number
  readonly schema: PayloadSchema
}

/** All payloads of one call together; nothing else on the server goes on meanwhile. */
const CHECK_MS_MAX = 250
/** Keywords × bytes that a call checks unwatched: some ten milliseconds at worst. */
const UNWATCHED_MAX = 2_000_000
const TEXT_LENGTH_MAX = 300

/** The refusal of each, in the order given, or null where it fits. */
export function checkPayloads(checks: readonly Check[]): (GateError | null)[] {
  const refusals: (GateError | null)[] = []
  const checkAll = () => {
    for (const check of checks.slice(refusals.length)) refusals.push(refusalOf(check))
  }
  const effort = checks.reduce((sum, { schema, bytes }) => sum + schema.size * bytes, 0)
  const isQuick = effort <= UNWATCHED_MAX && !checks.some(({ schema }) => schema.canBeSlow)
  if (isQuick) checkAll()
  else if (!isDoneWithin(CHECK_MS_MAX, checkAll)) {
    for (const check of checks.slice(refusals.length)) refusals.push(tooSlow(check))
  }
  return refusals
}

function refusalOf(check: Check): GateError | null {
  const { type, payload } = check
  const { validate } = check.schema
  try {
    if (validate(payload)) return null
  } catch (error) {
    // A schema that refers to itself for ever, on this payload.
    if (error instanceof RangeError) return tooSlow(check)
    throw error
  }
  const [error] = validate.errors ?? []
  const { path, problem, rule } = describe(error)
  const where = path === '' ? 'the payload' : `${path} of the payload`
  const message = `${short(where)} ${short(problem)}, says the schema of type "${type}". Mend the payload; list_task_types shows the schema.`
  return new GateError('schema_violation', capital(message), { type, path: short(path), rule })
}

/** Where it is wrong, as a JSON Pointer into the payload, down to the member that is missing or too many. */
function describe(error: ErrorObject | undefined): { path: string; problem: string; rule: string } {
  const {
    instancePath: path = '',
    keyword: rule = 'false',
    params = {},
    message = 'is not allowed',
  } = error ?? {}
  const at = (member: unknown) => `${path}/${escaped(String(member))}`
  if (rule === 'required') return { path: at(params['missingProperty']), problem: 'is missing', rule }
  if (rule === 'additionalProperties') {
    return { path: at(params['additionalProperty']), problem: 'is not known', rule }
  }
  if (rule === 'unevaluatedProperties') {
    return { path: at(params['unevaluatedProperty']), problem: 'is not known', rule }
  }
  if (rule === 'enum')
    return { path, problem: `must be one of ${JSON.stringify(params['allowedValues'])}`, rule }
  if (rule === 'const') return { path, problem: `must be ${JSON.stringify(params['allowedValue'])}`, rule }
  return { path, problem: message, rule }
}

function escaped(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1')
}

function tooSlow({ type }: Check): GateError {
  const message =
    `The payload could not be checked against the schema of type "${type}" within ${CHECK_MS_MAX} ms. ` +
    'Send less in one call; if that does not help, make the schema simpler.'
  return new GateError('schema_violation', message, { type, path: '', rule: 'time' })
}

/** Cut where a pair of surrogates is not torn. */
function short(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}…`
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
