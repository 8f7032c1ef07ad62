// What is known of the request under way, for those whom the OAuth library calls without it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FoundAccount } from '../../store/accounts.ts'
import type { Origin } from '../audit.ts'

export interface RequestFacts {
  readonly origin: Origin
  readonly requestId: string
  /** Whose grant it is about, once somebody has looked it up. */
  account: FoundAccount | null
  /** What the library refused it for. */
  refusal: { readonly error: string; readonly detail: string } | null
}

const underWay = new AsyncLocalStorage<RequestFacts>()

export function withFacts<T>(facts: RequestFacts, run: () => T): T {
  return underWay.run(facts, run)
}

export function currentFacts(): RequestFacts {
  const facts = underWay.getStore()
  if (facts === undefined) throw new Error('the OAuth library was called by no known way')
  return facts
}
