// Accounts in SQL.
import type { Account, AccountStore, FoundAccount } from '../accounts.ts'
import type { Driver } from './session.ts'
import {
  type AccountRow,
  addAccount,
  disableAccount,
  findAccount,
  findAccountByName,
  type FoundAccountRow,
  listAccounts,
  setPassword,
} from './statements/accounts.ts'
import { removeArtifactsOf } from './statements/oauth.ts'
import { inTransaction } from './transact.ts'
import { isUuid, LAST_UUID } from './uuid.ts'

export function createSqlAccounts(driver: Driver): AccountStore {
  const { readerOf, acrossTenants } = driver
  return {
    findAccount: async (accountId) =>
      isUuid(accountId) ? foundOrNull(await findAccount(acrossTenants, accountId)) : null,
    findAccountByName: async (tenantId, username) =>
      foundOrNull(await findAccountByName(readerOf(tenantId), tenantId, username)),
    listAccounts: async ({ tenantId, before, limit }) =>
      (await listAccounts(readerOf(tenantId), { tenantId, before: before ?? LAST_UUID, limit })).map(
        toAccount,
      ),
    addAccount: (account) =>
      inTransaction(
        { driver, tenantId: account.tenantId },
        async (tx) => (await addAccount(tx, rowOf(account))).length > 0,
      ),
    setPassword: (change) =>
      inTransaction({ driver, tenantId: change.tenantId }, async (tx) => {
        const row = isUuid(change.accountId) ? await setPassword(tx, change) : undefined
        if (row !== undefined) await removeArtifactsOf(tx, row.account_id)
        return row === undefined ? null : toAccount(row)
      }),
    disableAccount: (change) =>
      inTransaction({ driver, tenantId: change.tenantId }, async (tx) => {
        const row = isUuid(change.accountId) ? await disableAccount(tx, change) : undefined
        if (row !== undefined && change.disabledAt !== null) await removeArtifactsOf(tx, row.account_id)
        return row === undefined ? null : toAccount(row)
      }),
  }
}

function foundOrNull(row: FoundAccountRow | undefined): FoundAccount | null {
  return row === undefined ? null : foundFromRow(row)
}

export function foundFromRow(row: FoundAccountRow): FoundAccount {
  return { ...toAccount(row), isTenantSuspended: row.tenant_suspended_at !== null }
}

function toAccount(row: AccountRow): Account {
  return {
    tenantId: row.tenant_id,
    accountId: row.account_id,
    username: row.username,
    passwordHash: row.password_hash,
    subject: row.subject,
    principal: { kind: row.principal_kind, id: row.principal_id },
    role: row.role,
    createdAt: row.created_at,
    createdBy: { kind: row.created_by_kind, id: row.created_by_id },
    disabledAt: row.disabled_at,
  }
}

function rowOf(account: Account): AccountRow {
  return {
    tenant_id: account.tenantId,
    account_id: account.accountId,
    username: account.username,
    password_hash: account.passwordHash,
    subject: account.subject,
    principal_kind: account.principal.kind,
    principal_id: account.principal.id,
    role: account.role,
    created_at: account.createdAt,
    created_by_kind: account.createdBy.kind,
    created_by_id: account.createdBy.id,
    disabled_at: account.disabledAt,
  }
}
