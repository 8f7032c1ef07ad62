// Accounts in memory.
import type { Account, AccountStore, FoundAccount } from '../accounts.ts'
import type { TenantStore } from '../tenants.ts'

interface Parts extends Pick<TenantStore, 'readTenant'> {
  readonly endAccess: (accountId: string) => void
}

export function createMemoryAccounts({ readTenant, endAccess }: Parts): AccountStore {
  const accounts = new Map<string, Account>()
  const accountOf = (tenantId: string, accountId: string) => {
    const account = accounts.get(accountId)
    return account?.tenantId === tenantId ? account : null
  }
  const nameOf = (tenantId: string, username: string) =>
    accounts.values().find((one) => one.tenantId === tenantId && one.username === username)
  const found = async (account: Account | undefined): Promise<FoundAccount | null> => {
    if (account === undefined) return null
    const tenant = await readTenant(account.tenantId)
    return { ...account, isTenantSuspended: tenant !== null && tenant.suspendedAt !== null }
  }
  return {
    findAccount: (accountId) => found(accounts.get(accountId)),
    findAccountByName: (tenantId, username) => found(nameOf(tenantId, username)),
    listAccounts: async ({ tenantId, before, limit }) =>
      [...accounts.values()]
        .filter((one) => one.tenantId === tenantId && (before === null || one.accountId < before))
        .toSorted((a, b) => (a.accountId < b.accountId ? 1 : -1))
        .slice(0, limit),
    addAccount: async (account) => {
      if (nameOf(account.tenantId, account.username) !== undefined) return false
      accounts.set(account.accountId, account)
      return true
    },
    setPassword: async ({ tenantId, accountId, passwordHash }) => {
      const account = accountOf(tenantId, accountId)
      if (account === null) return null
      const changed = { ...account, passwordHash }
      accounts.set(accountId, changed)
      endAccess(accountId)
      return changed
    },
    disableAccount: async ({ tenantId, accountId, disabledAt }) => {
      const account = accountOf(tenantId, accountId)
      if (account === null) return null
      const since = disabledAt === null ? null : (account.disabledAt ?? disabledAt)
      const changed = { ...account, disabledAt: since }
      accounts.set(accountId, changed)
      if (disabledAt !== null) endAccess(accountId)
      return changed
    },
  }
}
