// Handlers of the accounts of a tenant.
import { GateError } from '@asyncgate/sdk'
import type { Caller } from '../../auth/caller.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import { hashSecret } from '../../auth/secret-hash.ts'
import type { Account } from '../../store/accounts.ts'
import type { Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, encodeCursor, pageLimit } from '../page.ts'
import { accountToWire } from '../view-access.ts'
import { assertGivable } from './keys.ts'
import { type HandlerParts, orNull } from './parts.ts'

type AccountHandlers = Pick<
  Handlers,
  'createAccount' | 'listAccounts' | 'setAccountPassword' | 'disableAccount' | 'enableAccount'
>

export function accountHandlers(parts: HandlerParts): AccountHandlers {
  const { store, list, clock, ids, random, hashCost } = parts
  const hash = (password: string) => hashSecret(password, { random, ...(hashCost && { cost: hashCost }) })

  async function change(changed: Promise<Account | null>, accountId: string) {
    const account = await changed
    if (account === null) throw noSuchAccount(accountId)
    return accountToWire(account)
  }

  return {
    createAccount: async ({ username, role, principal, password, subject }, { caller }) => {
      if (password === undefined && subject === undefined) throw noWayIn()
      assertGivable({ role, scopes: DEFAULT_SCOPES[role] }, caller)
      const passwordHash = password === undefined ? null : await hash(password)
      const createdAt = clock.now()
      const account: Account = {
        tenantId: caller.tenantId,
        accountId: ids.next(createdAt),
        username,
        passwordHash,
        subject: orNull(subject),
        principal: { kind: principal.principal_kind, id: principal.principal_id },
        role,
        createdAt,
        createdBy: caller.principal,
        disabledAt: null,
      }
      if (!(await store.addAccount(account))) throw taken(username)
      return accountToWire(account)
    },
    listAccounts: async (input, { caller }) => {
      const limit = pageLimit(input.limit, list)
      const before = decodeIdCursor('accounts', input.cursor)
      const rows = await store.listAccounts({ tenantId: caller.tenantId, before, limit: limit + 1 })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('accounts', last.accountId),
      })
      return { accounts: page.map(accountToWire), next_cursor: next }
    },
    setAccountPassword: async ({ account_id: accountId, password }, { caller }) => {
      const { tenantId } = caller
      await assertWithin(caller, accountId)
      return change(store.setPassword({ tenantId, accountId, passwordHash: await hash(password) }), accountId)
    },
    disableAccount: ({ account_id: accountId }, { caller: { tenantId } }) =>
      change(store.disableAccount({ tenantId, accountId, disabledAt: clock.now() }), accountId),
    enableAccount: ({ account_id: accountId }, { caller: { tenantId } }) =>
      change(store.disableAccount({ tenantId, accountId, disabledAt: null }), accountId),
  }

  /** Who sets a password can sign in: it must not be a way to rights that one does not have. */
  async function assertWithin(caller: Caller, accountId: string): Promise<void> {
    const account = await store.findAccount(accountId)
    if (account === null || account.tenantId !== caller.tenantId) throw noSuchAccount(accountId)
    assertGivable({ role: account.role, scopes: DEFAULT_SCOPES[account.role] }, caller)
  }
}

function noSuchAccount(accountId: string): GateError {
  return new GateError('not_found', `No account ${accountId}. Check the id, or list the accounts.`)
}

function noWayIn(): GateError {
  return wrongField(
    'password',
    'Give a password, or the subject at an OpenID provider: else nobody could sign in.',
  )
}

function taken(username: string): GateError {
  return wrongField('username', `There is an account ${username} in your tenant. Choose another name.`)
}

function wrongField(field: string, message: string): GateError {
  return new GateError('invalid_input', message, { field, issues: [{ field, message }] })
}
