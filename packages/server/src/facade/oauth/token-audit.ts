// What the authorization server does and refuses, into the audit log: before the reply, so that no token is given out that is
// not on record.
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { DEFAULT_TENANT } from '../../auth/caller.ts'
import type { FoundAccount } from '../../store/accounts.ts'
import type { Audit, AuditEntry } from '../audit.ts'
import { currentFacts, type RequestFacts } from './request-facts.ts'

export function auditTokens(provider: Provider, audit: Pick<Audit, 'record' | 'note'>): void {
  const note = (_ctx: KoaContextWithOIDC, refused: errors.OIDCProviderError) => {
    const { error, error_detail, error_description } = refused
    currentFacts().refusal = { error, detail: error_detail ?? error_description ?? '' }
  }
  provider.on('grant.error', note)
  provider.on('authorization.error', note)
  provider.on('revocation.error', note)
  provider.use(async (ctx, next) => {
    await next()
    const { oidc } = ctx as Partial<KoaContextWithOIDC>
    if (oidc === undefined) return
    const facts = currentFacts()
    if (facts.refusal !== null) audit.note(refusalOf(oidc, facts, facts.refusal))
    else if (oidc.route === 'token') await audit.record(issueOf(oidc, facts))
  })
}

type Oidc = KoaContextWithOIDC['oidc']

function issueOf(oidc: Oidc, facts: RequestFacts): AuditEntry {
  const { AccessToken: token } = oidc.entities
  const how = oidc.params?.['grant_type']
  const reason = `${clientOf(oidc)} got a token by ${String(how)}, scope ${token?.scope ?? ''}, for ${String(token?.aud)}.`
  return entryOf(facts, accountOf(oidc, facts), 'token.issued', reason)
}

const USED = /already (used|consumed)/

function refusalOf(
  oidc: Oidc,
  facts: RequestFacts,
  refusal: NonNullable<RequestFacts['refusal']>,
): AuditEntry {
  const { error, detail } = refusal
  const reason = `${clientOf(oidc)} was refused at ${oidc.route}: ${error}${detail === '' ? '' : ` (${detail})`}.`
  const account = accountOf(oidc, facts)
  if (USED.test(detail)) return entryOf(facts, account, 'token.reused', reason)
  const isAtToken = oidc.route === 'token' || oidc.route === 'revocation'
  return entryOf(facts, account, isAtToken ? 'token.refused' : 'authorization.refused', reason)
}

/** Where nobody is known, it is the operators' business. */
function entryOf(
  { origin, requestId }: RequestFacts,
  account: FoundAccount | null,
  event: AuditEntry['event'],
  reason: string,
): AuditEntry {
  const tenantId = account?.tenantId ?? DEFAULT_TENANT
  return { event, tenantId, principal: account?.principal ?? null, origin, requestId, reason }
}

function clientOf({ client }: Oidc): string {
  return client === undefined ? 'An unknown client' : `Client ${client.clientId}`
}

function accountOf(oidc: Oidc, facts: RequestFacts): FoundAccount | null {
  return facts.account ?? (oidc.entities.Account?.['account'] as FoundAccount | undefined) ?? null // see provider.ts
}
