// Operations of administrators: the applications that people of their tenant may sign in with.
import { z } from 'zod'
import { field, LIST_ENTRIES_MAX, NAME_LENGTH_MAX, page, PrincipalRef, timestamp } from './fields.ts'
import { operation } from './operation.ts'

const URI_LENGTH_MAX = 1_000
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** What a browser runs, shows or opens by itself. */
const UNSAFE_SCHEMES = [
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'about:',
  'view-source:',
  'ftp:',
]

/** Where a code may be sent: over TLS, to this machine, or to an application by a scheme of its own. */
export function isRedirectUri(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('#') || text.includes('\\')) return false
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return LOOPBACK.includes(url.hostname)
  return !UNSAFE_SCHEMES.includes(url.protocol)
}

const clientId = { client_id: field.id('The client, as list_clients shows it.') }

const OAuthClient = z.object({
  client_id: z.uuid(),
  name: z.string(),
  redirect_uris: z.array(z.string()),
  status: z.enum(['active', 'revoked']),
  created_at: timestamp,
  created_by: PrincipalRef,
  revoked_at: timestamp.nullable(),
})

export const clientOperations = {
  registerClient: operation({
    summary: 'Register an application that people of your tenant may sign in with (OAuth).',
    guide:
      'Use it for a client that has no client id of its own; clients with a metadata document at an https address need no ' +
      'registration. The client is public: it has no secret and must use PKCE (S256).',
    route: 'POST /v1/admin/clients',
    scopes: ['admin:write'],
    effect: 'write',
    listed: 'admin',
    errors: [],
    status: 201,
    input: z.strictObject({
      name: z
        .string()
        .min(1)
        .max(NAME_LENGTH_MAX)
        .describe('What people see when they are asked to allow it.'),
      redirect_uris: z
        .array(
          z
            .string()
            .min(1)
            .max(URI_LENGTH_MAX)
            .refine(
              isRedirectUri,
              'it must be an https address, an http address of this machine, or one of a scheme of an application, without a fragment',
            ),
        )
        .min(1)
        .max(LIST_ENTRIES_MAX)
        .describe(
          'Where it may be sent back to: compared character by character, but for the port on loopback.',
        ),
    }),
    output: OAuthClient,
  }),
  listClients: operation({
    summary: 'List the applications registered in your tenant, newest first.',
    guide: 'Use it to see what people may sign in with. Clients with a metadata document are not among them.',
    route: 'GET /v1/admin/clients',
    scopes: ['admin:read', 'admin:write'],
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({ ...page }),
    output: z.object({ clients: z.array(OAuthClient), next_cursor: z.string().nullable() }),
  }),
  revokeClient: operation({
    summary: 'End a registered application for good.',
    guide:
      'Use it when an application is no longer trusted. Every server refuses its tokens within a minute. Repeating the call ' +
      'changes nothing more.',
    route: 'POST /v1/admin/clients/{client_id}/revoke',
    scopes: ['admin:write'],
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(clientId),
    output: OAuthClient,
  }),
}
