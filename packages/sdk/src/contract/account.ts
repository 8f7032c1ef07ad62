// Operations of administrators: the people of their tenant who sign in themselves.
import { z } from 'zod'
import { field, NAME_LENGTH_MAX, NamedPrincipal, page, PrincipalRef, timestamp } from './fields.ts'
import { operation } from './operation.ts'

/** Operators keep tenants by keys made on the database, services have keys: neither is a person at a browser. */
export const ACCOUNT_ROLES = ['agent', 'worker', 'admin'] as const
const USERNAME = /^[a-z0-9][a-z0-9._@+-]{0,99}$/
const PASSWORD_LENGTH_MIN = 12

const accountId = { account_id: field.id('The account, as list_accounts shows it.') }
const password = z
  .string()
  .min(PASSWORD_LENGTH_MIN)
  .max(NAME_LENGTH_MAX)
  .describe(`At least ${PASSWORD_LENGTH_MIN} characters, any. It is kept as a hash and shown nowhere.`)

const Account = z.object({
  account_id: z.uuid(),
  username: z.string(),
  signs_in_as: z.string().describe('What the person types at the login page: the tenant, a slash, the name.'),
  principal: PrincipalRef,
  role: z.enum(ACCOUNT_ROLES),
  has_password: z.boolean(),
  subject: z.string().nullable(),
  status: z.enum(['active', 'disabled']),
  created_at: timestamp,
  created_by: PrincipalRef,
  disabled_at: timestamp.nullable(),
})

export const accountOperations = {
  createAccount: operation({
    summary: 'Let a person sign in to your tenant.',
    guide:
      'Use it for people who connect an MCP client or an application themselves (OAuth); programs get keys with create_key. ' +
      'Give a password, or the subject that the person has at the OpenID provider of this server, or both.',
    route: 'POST /v1/admin/accounts',
    scopes: ['admin:write'],
    effect: 'write',
    listed: 'admin',
    errors: [],
    status: 201,
    input: z.strictObject({
      username: z
        .string()
        .regex(
          USERNAME,
          'it must be 1 to 100 lower-case letters, digits and ._@+- and begin with a letter or digit',
        )
        .describe('Unique in your tenant, e.g. "ada" or "ada@example.org".'),
      role: z.enum(ACCOUNT_ROLES).describe('What the person may let a client do.'),
      principal: NamedPrincipal.describe('Who acts with tokens of this account.'),
      password: password.optional(),
      subject: z
        .string()
        .min(1)
        .max(NAME_LENGTH_MAX)
        .optional()
        .describe('The "sub" of the person at the OpenID provider before this server.'),
    }),
    output: Account,
  }),
  listAccounts: operation({
    summary: 'List the accounts of your tenant, newest first.',
    guide: 'Use it to see who can sign in.',
    route: 'GET /v1/admin/accounts',
    scopes: ['admin:read', 'admin:write'],
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({ ...page }),
    output: z.object({ accounts: z.array(Account), next_cursor: z.string().nullable() }),
  }),
  setAccountPassword: operation({
    summary: 'Give an account another password.',
    guide:
      'Use it when a password is forgotten or known to others. Everything that the account let in ends within a minute.',
    route: 'POST /v1/admin/accounts/{account_id}/password',
    scopes: ['admin:write'],
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...accountId, password }),
    output: Account,
  }),
  disableAccount: operation({
    summary: 'Keep an account from signing in, and end all that it let in.',
    guide:
      'Use it when a person leaves. Its tokens are refused by every server within a minute, and stay so: after ' +
      'enable_account the person signs in anew.',
    route: 'POST /v1/admin/accounts/{account_id}/disable',
    scopes: ['admin:write'],
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(accountId),
    output: Account,
  }),
  enableAccount: operation({
    summary: 'Let a disabled account sign in again.',
    guide: 'Use it to undo disable_account. Tokens from before stay ended.',
    route: 'POST /v1/admin/accounts/{account_id}/enable',
    scopes: ['admin:write'],
    effect: 'idempotent',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(accountId),
    output: Account,
  }),
}
