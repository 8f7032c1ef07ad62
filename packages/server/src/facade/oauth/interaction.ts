// What happens between a person's browser being sent here and being sent back: sign in, then allow or not. Each step is bound to
// the browser by the interaction's cookie, and to the page that we showed by a word in its form.
import { type Scope, SCOPES } from '@asyncgate/sdk'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors, type InteractionResults, type Provider } from 'oidc-provider'
import { DEFAULT_TENANT } from '../../auth/caller.ts'
import { canSignIn, type Login } from '../../auth/login.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import type { FoundAccount } from '../../store/accounts.ts'
import type { Store } from '../../store/port.ts'
import { networkOf } from '../../limits/failed-logins.ts'
import type { Audit, AuditEntry } from '../audit.ts'
import { originOf } from '../identify.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import type { FormTokens } from './form-token.ts'
import { consentPage, errorPage, type FormFacts, loginPage, type Page } from './pages.ts'
import type { Upstream } from './upstream.ts'

export interface InteractionParts {
  readonly server: AuthorizationServer
  readonly store: Store
  readonly login: Login
  readonly formTokens: FormTokens
  readonly upstream: Upstream | null
  readonly audit: Pick<Audit, 'record' | 'note'>
  readonly onDefect: (error: unknown) => void
}

type Step = (here: Here) => Promise<FastifyReply>
type Details = Awaited<ReturnType<Provider['interactionDetails']>>

/** One request of one interaction. */
interface Here {
  readonly provider: Provider
  readonly details: Details
  readonly form: Readonly<Record<string, string>>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export interface Interactions {
  readonly show: Step
  readonly signIn: Step
  readonly consent: Step
  readonly cancel: Step
  readonly goUpstream: Step
  readonly comeBack: Step
}

const WRONG = 'The account or the password is not right.'

export function createInteractions(parts: InteractionParts): Interactions {
  const { store, login, upstream, audit, formTokens } = parts

  async function factsOf({ provider, details }: Here): Promise<FormFacts> {
    const { client_id: clientId, redirect_uri: redirectUri } = details.params as Record<string, string>
    const client = await provider.Client.find(clientId!)
    const name = client?.clientName ?? 'An application'
    const named = URL.parse(clientId!)?.host
    const { uid } = details
    return {
      uid,
      formToken: formTokens.of(uid),
      clientName: named ? `${name} (${named})` : name,
      redirectUri: redirectUri!,
    }
  }

  async function showLogin(
    here: Here,
    problem: string | null,
    accountName = '',
    status = problem === null ? 200 : 401,
  ): Promise<FastifyReply> {
    const facts = { ...(await factsOf(here)), accountName, problem, upstream: upstream?.issuer ?? null }
    return send(here.reply.code(status), loginPage(facts))
  }

  async function showConsent(here: Here): Promise<FastifyReply> {
    const account = await accountHere(here)
    if (account === null) return showEnd(here.reply)
    const { given, withheld } = scopesOf(here.details, account)
    const principal = `${account.principal.kind}/${account.principal.id}`
    const facts = { ...(await factsOf(here)), account: nameOf(account), principal, given, withheld }
    return send(here.reply, consentPage(facts))
  }

  async function accountHere({ details }: Here): Promise<FoundAccount | null> {
    const account = await store.findAccount(details.session?.accountId ?? '')
    return account !== null && canSignIn(account) ? account : null
  }

  function entryOf(
    { request }: Here,
    account: FoundAccount | null,
    event: AuditEntry['event'],
    reason: string,
  ): AuditEntry {
    const { tenantId = DEFAULT_TENANT, principal = null } = account ?? {}
    return { event, tenantId, principal, origin: originOf(request), requestId: request.id, reason }
  }

  const clientOf = ({ details }: Here) => `client ${String(details.params['client_id'])}`

  async function letIn(here: Here, account: FoundAccount, how: 'pwd' | 'fed'): Promise<FastifyReply> {
    const reason = `${nameOf(account)} signed in with ${clientOf(here)}${how === 'fed' ? ' at the OpenID provider' : ''}.`
    await audit.record(entryOf(here, account, 'login.succeeded', reason))
    return goOn(here, { login: { accountId: account.accountId, remember: false, amr: [how] } })
  }

  function refuse(here: Here, account: FoundAccount | null, why: string): void {
    audit.note(entryOf(here, account, 'login.failed', `Signing in with ${clientOf(here)}: ${why}.`))
  }

  return {
    show: (here) => (here.details.prompt.name === 'login' ? showLogin(here, null) : showConsent(here)),
    signIn: async (here) => {
      const { account: name = '', password = '' } = here.form
      const client = await store.findClient(String(here.details.params['client_id']))
      const tenantId = client?.tenantId ?? null
      const attempt = await login.withPassword({
        name,
        password,
        network: networkOf(here.request.ip),
        tenantId,
      })
      if (attempt.outcome === 'in') return letIn(here, attempt.account, 'pwd')
      if (attempt.outcome === 'wrong') {
        refuse(here, attempt.account, 'wrong account or password')
        return showLogin(here, WRONG, name)
      }
      refuse(here, null, 'too many wrong passwords')
      here.reply.header('retry-after', String(attempt.seconds))
      const minutes = Math.ceil(attempt.seconds / 60)
      return showLogin(here, `Too many tries. Wait ${minutes} min, then try again.`, name, 429)
    },
    consent: async (here) => {
      const { provider, details } = here
      const account = await accountHere(here)
      if (account === null) return showEnd(here.reply)
      const { given, withheld } = scopesOf(details, account)
      if (given.length === 0) return showConsent(here)
      const clientId = String(details.params['client_id'])
      const grant = new provider.Grant({ accountId: account.accountId, clientId })
      for (const resource of [details.params['resource']].flat() as string[]) {
        grant.addResourceScope(resource, given.join(' '))
        if (withheld.length > 0) grant.rejectResourceScope(resource, withheld.join(' '))
      }
      const reason = `${nameOf(account)} allowed ${clientOf(here)}: ${given.join(' ')}.`
      await audit.record(entryOf(here, account, 'consent.given', reason))
      return goOn(here, { consent: { grantId: await grant.save() } })
    },
    cancel: async (here) => {
      const account = await accountHere(here)
      audit.note(entryOf(here, account, 'consent.denied', `${clientOf(here)} was not allowed.`))
      return goOn(here, { error: 'access_denied', error_description: 'the person did not allow it' })
    },
    goUpstream: async (here) => {
      const name = here.form['account'] ?? ''
      if (upstream === null || name.trim() === '')
        return showLogin(here, 'Say which account of AsyncGate it is for.')
      try {
        const target = await upstream.begin(here.details.uid, name.slice(0, 200))
        return here.reply.redirect(target, 303)
      } catch (error) {
        parts.onDefect(error)
        const problem = 'The OpenID provider cannot be reached just now. Try again in a moment.'
        return showLogin(here, problem, name, 502)
      }
    },
    comeBack: async (here) => {
      const { state = '', code = '' } = here.form
      const said = await upstream?.finish({ uid: here.details.uid, state, code }).catch((error: unknown) => {
        parts.onDefect(error)
        return null
      })
      const account = said ? await login.find(said.accountName) : null
      const isTheirs = account !== null && account.subject !== null && account.subject === said?.subject
      const client = await store.findClient(String(here.details.params['client_id']))
      const isOfTenant = client === null || client.tenantId === account?.tenantId
      if (isTheirs && isOfTenant && canSignIn(account)) return letIn(here, account, 'fed')
      refuse(here, account, 'the OpenID provider did not vouch for the account')
      return showLogin(here, 'The OpenID provider did not say that this account is yours.', said?.accountName)
    },
  }
}

/** The steps run only for the browser and the form that they belong to. */
export function inInteraction(
  parts: InteractionParts,
  step: Step,
  { promptName, isForm }: { promptName?: 'login' | 'consent'; isForm: boolean },
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { provider } = await parts.server()
    const { uid } = request.params as { uid: string }
    const form = textsOf(isForm ? request.body : request.query)
    let details: Details
    try {
      details = await provider.interactionDetails(request.raw, reply.raw)
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return showEnd(reply)
      throw error
    }
    const isHere = details.uid === uid && (promptName === undefined || details.prompt.name === promptName)
    const isOurs = !isForm || parts.formTokens.isOf(uid, form['form_token'] ?? '')
    if (!isHere || !isOurs) return showEnd(reply)
    return step({ provider, details, form, request, reply })
  }
}

/** What was sent once, as text: a name that comes twice, or no body at all, says nothing. */
export function textsOf(given: unknown): Readonly<Record<string, string>> {
  const texts = Object.entries(given ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(texts)
}

async function goOn({ provider, request, reply }: Here, result: InteractionResults): Promise<FastifyReply> {
  return reply.redirect(await provider.interactionResult(request.raw, reply.raw, result), 303)
}

/** Asked for, and within what the account may do. */
function scopesOf({ params }: Details, { role }: FoundAccount): { given: Scope[]; withheld: Scope[] } {
  const asked = new Set((textsOf(params)['scope'] ?? '').split(' '))
  const known = SCOPES.filter((scope) => asked.has(scope))
  const own = DEFAULT_SCOPES[role]
  return {
    given: known.filter((scope) => own.includes(scope)),
    withheld: known.filter((scope) => !own.includes(scope)),
  }
}

function nameOf({ tenantId, username }: FoundAccount): string {
  return `${tenantId}/${username}`
}

export function showEnd(reply: FastifyReply): FastifyReply {
  const description = 'it has expired, was finished, or was begun in another browser'
  return send(
    reply.code(400),
    errorPage({ error: 'This sign-in cannot go on', error_description: description }),
  )
}

function send(reply: FastifyReply, page: Page): FastifyReply {
  return reply.headers(page.headers).send(page.body)
}
