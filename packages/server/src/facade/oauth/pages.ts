// The pages that people see when they sign in: our own text, without scripts, readable by any device.
import { hash } from 'node:crypto'
import { type Html, html } from '../html.ts'
import { STYLE } from './style.ts'

export interface Page {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface FormFacts {
  readonly uid: string
  /** Only who was shown the form knows it. */
  readonly formToken: string
  readonly clientName: string
  readonly redirectUri: string
}

export interface LoginFacts extends FormFacts {
  readonly accountName: string
  readonly problem: string | null
  /** Where else people can sign in, if anywhere. */
  readonly upstream: URL | null
}

export interface ConsentFacts extends FormFacts {
  readonly account: string
  readonly principal: string
  readonly given: readonly string[]
  readonly withheld: readonly string[]
}

export const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  'tasks:read': 'see your tasks and their results',
  'tasks:write': 'create, cancel and retry tasks as you',
  'tasks:lease': 'take up tasks and report their outcome as a worker',
  'receipts:read': 'read your receipts and open obligations',
  'receipts:ack': 'acknowledge receipts for you',
  'receipts:write': 'submit receipts as you',
  'admin:read': 'see everything in your tenant, and its audit log',
  'admin:write': 'change everything in your tenant: keys, accounts and tasks of everybody',
}

export function loginPage(facts: LoginFacts): Page {
  const { uid, accountName, problem, upstream } = facts
  const alert = problem === null ? html`` : html`<p class="alert" role="alert">${problem}</p>`
  const body = html`
<h1>Sign in</h1>
${who(facts)}
${alert}
<form method="post" action="/oauth/interaction/${uid}/login">
${token(facts)}
<label for="account">Account</label>
<input id="account" name="account" value="${accountName}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus aria-describedby="account-hint">
<p class="hint" id="account-hint">Your name, or tenant/name where you belong to a tenant of its own.</p>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" ${upstream ? html`` : html`required`}>
<button type="submit">Sign in</button>
${upstream ? html`<button type="submit" class="plain" formaction="/oauth/interaction/${uid}/upstream">Sign in at ${upstream.host}</button>` : html``}
</form>
${cancelForm(facts)}`
  return page('Sign in', body, { formTargets: [facts.redirectUri, ...(upstream ? [upstream.href] : [])] })
}

export function consentPage(facts: ConsentFacts): Page {
  const { uid, account, principal, given, withheld } = facts
  const allow = html`
<form method="post" action="/oauth/interaction/${uid}/consent">${token(facts)}<button type="submit">Allow</button></form>`
  const body = html`
<h1>Allow ${facts.clientName}?</h1>
${who(facts)}
<p>You are signed in as <strong>${account}</strong> and act as <strong>${principal}</strong>.</p>
${given.length > 0 ? html`<p>It will be able to:</p><ul>${given.map(scopeItem)}</ul>` : html`<p class="alert" role="alert">Your account has none of the rights that it asks for.</p>`}
${withheld.length > 0 ? html`<p class="quiet">Not included, since your account cannot give it: ${withheld.join(', ')}.</p>` : html``}
${given.length > 0 ? allow : html``}
${cancelForm(facts)}`
  return page(`Allow ${facts.clientName}?`, body, { formTargets: [facts.redirectUri] })
}

/** Nothing of the inside: what the protocol says is wrong, and what to do. */
export function errorPage({ error, error_description: description = '' }: ErrorOut): Page {
  const body = html`
<h1>This did not work</h1>
<p class="alert" role="alert">${description === '' ? error : `${error}: ${description}`}</p>
<p>Go back to the application and start again. If it happens again, tell who runs the application.</p>`
  return page('This did not work', body)
}

interface ErrorOut {
  readonly error: string
  readonly error_description?: string | undefined
}

function scopeItem(scope: string): Html {
  return html`<li>${SCOPE_TEXTS[scope] ?? scope} <code>${scope}</code></li>`
}

/** The name is what the client calls itself; where the code goes is what it is. */
function who({ clientName, redirectUri }: FormFacts): Html {
  return html`<p class="who"><strong>${clientName}</strong> wants access to AsyncGate. You will be sent to
<strong class="host">${destinationOf(redirectUri)}</strong>.</p>`
}

export function destinationOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (protocol !== 'http:' && protocol !== 'https:') return `an application on this device (${protocol})`
  return protocol === 'http:' ? `an application on this device (${hostname})` : host
}

function token({ formToken }: FormFacts): Html {
  return html`<input type="hidden" name="form_token" value="${formToken}">`
}

function cancelForm(facts: FormFacts): Html {
  return html`<form method="post" action="/oauth/interaction/${facts.uid}/cancel">${token(facts)}<button type="submit" class="plain">Cancel</button></form>`
}

const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE.text, 'base64')}'`

/** A browser holds the redirects that answer a form to `form-action` as well. */
function page(
  title: string,
  body: Html,
  { formTargets = [] }: { formTargets?: readonly string[] } = {},
): Page {
  const targets = ["'self'", ...new Set(formTargets.map(sourceOf))].join(' ')
  const policy = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    `form-action ${targets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
    body: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · AsyncGate</title>
<style>${STYLE}</style>
</head>
<body><main>${body}</main></body>
</html>
`.text,
  }
}

function sourceOf(address: string): string {
  const { protocol, origin } = new URL(address)
  return protocol === 'http:' || protocol === 'https:' ? origin : protocol
}
