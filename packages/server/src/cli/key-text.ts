// API keys for people to read.
import type { GateContract, Reply } from '@asyncgate/sdk'
import type { View } from './server-call.ts'
import { renderFacts } from './table.ts'
import { safe } from './text.ts'

type NewKey = Reply<GateContract['createKey']>

export function newKeyFacts(key: NewKey, { paint }: View): string {
  const facts = renderFacts(
    [
      ['key', key.api_key],
      ['key id', key.key_id],
      ['principal', safe(principalText(key))],
      ['role', key.role],
      ['scopes', key.scopes.join(' ')],
      ['expires', key.expires_at ?? 'never'],
    ],
    paint,
  )
  return `${facts}\n\nKeep it where secrets are kept: it is shown this once.`
}

export function principalText({ principal }: Pick<NewKey, 'principal'>): string {
  return `${principal.principal_kind}/${principal.principal_id}`
}
