// Operations of administrators: the API keys of their own tenant.
import { z } from 'zod'
import {
  asWorker,
  field,
  LIST_ENTRIES_MAX,
  NAME_LENGTH_MAX,
  NamedPrincipal,
  page,
  PrincipalRef,
  SECONDS_MAX,
  timestamp,
} from './fields.ts'
import { operation, ROLES, SCOPES } from './operation.ts'

const keyId = { key_id: field.id('The key, as list_keys shows it.') }
export const keyName = z
  .string()
  .min(1)
  .max(NAME_LENGTH_MAX)
  .optional()
  .describe('What the key is for; for people.')
export const keyExpiry = field.instant('When the key ends by itself; default never.').optional()

const Key = z.object({
  key_id: z.uuid(),
  prefix: z.string().describe('How the key begins; no secret.'),
  name: z.string().nullable(),
  principal: PrincipalRef,
  role: z.enum(ROLES),
  scopes: z.array(z.enum(SCOPES)),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: timestamp,
  created_by: PrincipalRef,
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
})

export const NewKey = Key.extend({
  api_key: z.string().describe('The key itself. It is shown this once and kept nowhere.'),
})

export const keyOperations = {
  createKey: operation({
    summary: 'Make an API key for a principal of your tenant.',
    guide:
      'Use it to let an agent, a worker or a service in. The reply shows the key once; store it where secrets are kept. ' +
      'Without scopes it gets those of its role; nobody can give a scope that their own credential lacks.',
    route: 'POST /v1/admin/keys',
    scopes: ['admin:write'],
    effect: 'write',
    listed: 'admin',
    errors: [],
    status: 201,
    input: z.strictObject({
      role: z
        .enum(ROLES)
        .describe(
          'What the key may do unless scopes say otherwise; a service has no scopes of its own. ' +
            'Keys of operators are made with "asyncgate keys" on the database alone.',
        ),
      principal: NamedPrincipal.describe('Who calls with it.'),
      scopes: z
        .array(z.enum(SCOPES))
        .min(1)
        .max(LIST_ENTRIES_MAX)
        .optional()
        .describe('Exactly these scopes instead of those of the role.'),
      name: keyName,
      expires_at: keyExpiry,
    }),
    output: NewKey,
  }),
  listKeys: operation({
    summary: 'List the API keys of your tenant, newest first.',
    guide: 'Use it to see who has access and since when. The keys themselves cannot be shown again.',
    route: 'GET /v1/admin/keys',
    scopes: ['admin:read', 'admin:write'],
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({ ...page }),
    output: z.object({ keys: z.array(Key), next_cursor: z.string().nullable() }),
  }),
  rotateKey: operation({
    summary: 'Replace an API key by a new one; both are valid for a while.',
    guide:
      'Use it regularly, and give the new key to its principal within overlap_seconds: then the old one ends. ' +
      'The new key is bound as the old one was and lives as long. For a key that leaked use revoke_key.',
    route: 'POST /v1/admin/keys/{key_id}/rotate',
    scopes: ['admin:write'],
    effect: 'write',
    listed: 'admin',
    errors: ['not_found', 'invalid_transition'],
    status: 201,
    input: z.strictObject({
      ...keyId,
      overlap_seconds: z
        .int()
        .min(0)
        .max(SECONDS_MAX)
        .default(86_400)
        .describe('How long the old key stays valid beside the new one; default a day.'),
      expires_at: field.instant('When the new key ends; default after as long a life as the old.').optional(),
    }),
    output: NewKey,
  }),
  revokeKey: operation({
    summary: 'End an API key for good.',
    guide:
      'Use it when a key leaked or is no longer needed. Every server refuses it within a minute. Repeating the call changes nothing more.',
    route: 'POST /v1/admin/keys/{key_id}/revoke',
    scopes: ['admin:write'],
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(keyId),
    output: Key,
  }),
  createWorkerKey: operation({
    summary: 'Make an API key for a worker: create_key in an older form.',
    guide: 'Prefer create_key with the role worker. The reply shows the key once.',
    route: 'POST /admin/workers/create_key',
    scopes: ['admin:write'],
    effect: 'write',
    listed: 'admin',
    errors: [],
    status: 201,
    input: z.strictObject({
      worker_id: asWorker.worker_id,
      capabilities: z
        .array(z.string().min(1).max(NAME_LENGTH_MAX))
        .max(LIST_ENTRIES_MAX)
        .optional()
        .describe(
          'Taken for old clients; a key is not bound to them: a worker says at each claim what it can do.',
        ),
      expires_at: keyExpiry,
    }),
    output: z.object({
      api_key: z.string().describe('The key itself. It is shown this once and kept nowhere.'),
      worker_id: z.string(),
      key_id: z.uuid(),
      expires_at: timestamp.nullable(),
    }),
  }),
}
