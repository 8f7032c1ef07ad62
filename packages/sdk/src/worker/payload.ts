// Payloads that are checked before a handler sees them, by any library that speaks Standard Schema (zod among them).
import { FatalError } from './errors.ts'

/** https://standardschema.dev, as far as a worker needs it. */
export interface PayloadSchema<P> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Checked<P> | Promise<Checked<P>>
  }
}

type Checked<P> = { readonly value: P; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** More problems than this help nobody. */
const ISSUES_SHOWN_MAX = 5

/** A payload that does not fit will not fit at the next attempt either. */
export async function checkPayload<P>(schema: PayloadSchema<P>, payload: unknown): Promise<P> {
  const checked = await schema['~standard'].validate(payload)
  if (checked.issues === undefined) return checked.value
  const issues = checked.issues.slice(0, ISSUES_SHOWN_MAX).map(({ message, path = [] }) => ({
    field: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'),
    message,
  }))
  const text = issues
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ')
  throw new FatalError(`The payload does not fit: ${text}`, { code: 'invalid_payload', details: { issues } })
}
