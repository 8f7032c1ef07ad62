// Signing in: accounts, clients, and what the authorization server remembers. A code is consumed once, whoever asks.
import { expect, test } from 'vitest'
import { createIds } from '../../src/ids.ts'
import type { Account } from '../../src/store/accounts.ts'
import type { OAuthClient } from '../../src/store/clients.ts'
import type { Artifact } from '../../src/store/oauth.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'

const NOWHERE = '0198c0de-0000-7000-8000-000000000001'
const T = 1_700_000_000_000
const ADA = { kind: 'human', id: 'ada' } as const
let tenants = 0

function setUp(given: Given) {
  const { store, beside } = given()
  const seed = (tenants += 1)
  const clock = { now: () => T, after: () => () => {} }
  const ids = createIds({ clock, random: createSeededRandom(seed * 6_007) })
  const tenantId = `oauth ${process.pid} ${seed}`
  const account = (over: Partial<Account> = {}): Account => ({
    tenantId,
    accountId: ids.next(),
    username: `ada${ids.next()}`,
    passwordHash: null,
    subject: null,
    principal: ADA,
    role: 'agent',
    createdAt: T,
    createdBy: ADA,
    disabledAt: null,
    ...over,
  })
  const client = (over: Partial<OAuthClient> = {}): OAuthClient => ({
    tenantId,
    clientId: ids.next(),
    name: 'Editor',
    redirectUris: ['https://editor.example.org/back'],
    createdAt: T,
    createdBy: ADA,
    revokedAt: null,
    ...over,
  })
  const artifact = (over: Partial<Artifact> = {}): Artifact => ({
    key: `key ${ids.next()}`,
    payload: { kind: 'AuthorizationCode' },
    grantId: null,
    uid: null,
    accountId: null,
    clientId: null,
    expiresAt: T + 1_000,
    ...over,
  })
  return { store, beside, tenantId, ids, account, client, artifact }
}

export function oauth(given: Given): void {
  test('an account comes back as it was added, by id and by name, on another instance too', async () => {
    const { store, beside, account, tenantId } = setUp(given)
    const full = account({
      passwordHash: '$argon2id$…',
      subject: '248|Ада',
      role: 'admin',
      disabledAt: T + 1,
    })
    for (const one of [account(), full]) {
      await expect(store.addAccount(one)).resolves.toBe(true)
      const found = { ...one, isTenantSuspended: false }
      await expect(beside.findAccount(one.accountId)).resolves.toEqual(found)
      await expect(beside.findAccountByName(tenantId, one.username)).resolves.toEqual(found)
    }
    await expect(store.findAccount('no uuid')).resolves.toBeNull()
    await expect(store.findAccount(NOWHERE)).resolves.toBeNull()
    await expect(store.findAccountByName('another', full.username)).resolves.toBeNull()
  })

  test('a name is given once in a tenant, and again in another', async () => {
    const { store, beside, account, tenantId } = setUp(given)
    const first = account({ username: 'ada' })
    const tries = [first, account({ username: 'ada' }), account({ username: 'ada' })]
    const added = await Promise.all(tries.map((one, at) => (at === 1 ? beside : store).addAccount(one)))
    expect(added.filter(Boolean)).toHaveLength(1)
    const other = account({ username: 'ada', tenantId: `${tenantId} another` })
    await expect(store.addAccount(other)).resolves.toBe(true)
  })

  test('accounts and clients are listed newest first, page by page, each tenant its own', async () => {
    const { store, account, client, tenantId } = setUp(given)
    const accounts = [account(), account(), account()]
    for (const one of [...accounts, account({ tenantId: `${tenantId} another` })]) await store.addAccount(one)
    const clients = [client(), client(), client()]
    for (const one of [...clients, client({ tenantId: `${tenantId} another` })]) await store.addClient(one)
    const [third, second, first] = accounts.toReversed()
    const page = (before: string | null) => ({ tenantId, before, limit: 2 })
    await expect(store.listAccounts(page(null))).resolves.toEqual([third, second])
    await expect(store.listAccounts(page(second!.accountId))).resolves.toEqual([first])
    await expect(store.listClients(page(null))).resolves.toEqual(clients.toReversed().slice(0, 2))
    await expect(store.listClients(page(clients[1]!.clientId))).resolves.toEqual([clients[0]])
  })

  test('another password, or none any more, ends all that the account was given; nothing of others', async () => {
    const { store, beside, account, artifact, tenantId } = setUp(given)
    const [ada, eve] = [account(), account()]
    for (const one of [ada, eve]) await store.addAccount(one)
    const give = async ({ accountId }: Account) => {
      const given = artifact({ accountId })
      await store.putArtifact(given)
      return given
    }
    const changes = [
      () => beside.setPassword({ tenantId, accountId: ada.accountId, passwordHash: 'new' }),
      () => beside.disableAccount({ tenantId, accountId: ada.accountId, disabledAt: T + 5 }),
    ]
    for (const change of changes) {
      const [hers, others] = [await give(ada), await give(eve)]
      await change()
      await expect(store.findArtifact(hers.key)).resolves.toBeNull()
      await expect(store.findArtifact(others.key)).resolves.toMatchObject(others)
    }
    const later = await store.disableAccount({ tenantId, accountId: ada.accountId, disabledAt: T + 9 })
    expect(later).toEqual({ ...ada, passwordHash: 'new', disabledAt: T + 5 })
    const again = await store.disableAccount({ tenantId, accountId: ada.accountId, disabledAt: null })
    expect(again?.disabledAt).toBeNull()
  })

  test("another tenant's accounts and clients are not there", async () => {
    const { store, account, client, tenantId, artifact } = setUp(given)
    const [ada, editor] = [account(), client()]
    await store.addAccount(ada)
    await store.addClient(editor)
    const hers = artifact({ accountId: ada.accountId })
    await store.putArtifact(hers)
    const other = `${tenantId} another`
    for (const accountId of [ada.accountId, NOWHERE, 'no uuid']) {
      await expect(store.setPassword({ tenantId: other, accountId, passwordHash: 'x' })).resolves.toBeNull()
      await expect(store.disableAccount({ tenantId: other, accountId, disabledAt: T })).resolves.toBeNull()
    }
    const revoking = { tenantId: other, clientId: editor.clientId, now: T }
    await expect(store.revokeClient(revoking)).resolves.toBeNull()
    await expect(store.findAccount(ada.accountId)).resolves.toMatchObject(ada)
    await expect(store.findClient(editor.clientId)).resolves.toEqual(editor)
    await expect(store.findArtifact(hers.key)).resolves.not.toBeNull()
    for (const clientId of [NOWHERE, 'https://example.org/client', 'zero \0'])
      await expect(store.findClient(clientId)).resolves.toBeNull()
  })

  test('the revocation of a client keeps its first time', async () => {
    const { store, beside, client, tenantId } = setUp(given)
    const { clientId } = client()
    await store.addClient(client({ clientId }))
    await store.revokeClient({ tenantId, clientId, now: T + 5 })
    await expect(beside.revokeClient({ tenantId, clientId, now: T + 9 })).resolves.toMatchObject({
      revokedAt: T + 5,
    })
  })

  test('an artifact comes back as it was put, and as it was put last', async () => {
    const { store, beside, artifact, ids } = setUp(given)
    const uid = ids.next()
    const first = artifact({ uid, payload: { text: 'ä "quoted" \u0000', deep: { list: [1, null] } } })
    await store.putArtifact(first)
    await expect(beside.findArtifact(first.key)).resolves.toEqual({ ...first, consumedAt: null })
    await store.consumeArtifact(first.key, T + 1)
    const second = { ...first, payload: { text: 'changed' }, expiresAt: T + 9 }
    await beside.putArtifact(second)
    await expect(store.findArtifactByUid(uid)).resolves.toEqual({ ...second, consumedAt: T + 1 })
    await store.removeArtifact(first.key)
    await expect(beside.findArtifact(first.key)).resolves.toBeNull()
    await expect(beside.findArtifactByUid(uid)).resolves.toBeNull()
  })

  test('of many who consume one artifact at once, on two instances, one is first', async () => {
    const { store, beside, artifact } = setUp(given)
    for (let round = 0; round < 20; round += 1) {
      const { key } = artifact()
      await store.putArtifact(artifact({ key }))
      const tries = Array.from({ length: 6 }, (_, at) =>
        (at % 2 ? beside : store).consumeArtifact(key, T + at),
      )
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
      await expect(store.consumeArtifact(key, T + 9)).resolves.toBe(false)
    }
    await expect(store.consumeArtifact('never was', T)).resolves.toBe(false)
  })

  test('a grant goes with all that was given out by it', async () => {
    const { store, beside, artifact, ids } = setUp(given)
    const [grantId, other] = [ids.next(), ids.next()]
    const mine = [artifact({ grantId }), artifact({ grantId })]
    const kept = artifact({ grantId: other })
    for (const one of [...mine, kept]) await store.putArtifact(one)
    await beside.removeGrant(grantId)
    for (const { key } of mine) await expect(store.findArtifact(key)).resolves.toBeNull()
    await expect(store.findArtifact(kept.key)).resolves.not.toBeNull()
  })

  test('a grant is found with its account, its tenant and its client as they are', async () => {
    const { store, beside, account, client, artifact, tenantId } = setUp(given)
    await store.addTenant({
      tenantId,
      name: null,
      createdAt: T,
      suspendedAt: null,
      tier: 'enterprise',
      limits: {},
    })
    const [ada, editor] = [account(), client()]
    await store.addAccount(ada)
    await store.addClient(editor)
    const grant = artifact({ accountId: ada.accountId, clientId: editor.clientId })
    await store.putArtifact(grant)
    const found = {
      clientId: editor.clientId,
      expiresAt: grant.expiresAt,
      isClientRevoked: false,
      account: { ...ada, isTenantSuspended: false },
    }
    await expect(beside.findGrant(grant.key)).resolves.toEqual(found)
    await store.suspendTenant({ tenantId, suspendedAt: T })
    await store.revokeClient({ tenantId, clientId: editor.clientId, now: T })
    await expect(beside.findGrant(grant.key)).resolves.toEqual({
      ...found,
      isClientRevoked: true,
      account: { ...ada, isTenantSuspended: true },
    })
    const byUrl = artifact({ accountId: ada.accountId, clientId: 'https://example.org/client' })
    await store.putArtifact(byUrl)
    await expect(store.findGrant(byUrl.key)).resolves.toMatchObject({ isClientRevoked: false })
    const ofNobody = artifact({ accountId: NOWHERE })
    await store.putArtifact(ofNobody)
    for (const key of [ofNobody.key, 'never was']) await expect(store.findGrant(key)).resolves.toBeNull()
  })

  test('what has ended is pruned, the oldest first, as much as is asked for', async () => {
    const { store, artifact } = setUp(given)
    const ended = [artifact({ expiresAt: 10 }), artifact({ expiresAt: 20 }), artifact({ expiresAt: 30 })]
    for (const one of ended) await store.putArtifact(one)
    await expect(store.pruneArtifacts(30, 1)).resolves.toBe(1)
    await expect(store.findArtifact(ended[0]!.key)).resolves.toBeNull()
    await expect(store.pruneArtifacts(30, 10)).resolves.toBe(1)
    await expect(store.findArtifact(ended[2]!.key)).resolves.not.toBeNull()
  })

  test('a new signing key retires the others; those that retired long ago go', async () => {
    const { store, beside } = setUp(given)
    const key = (keyId: string, createdAt: number) => ({ keyId, sealed: 's', createdAt, retiredAt: null })
    await store.addSigningKey(key('a', T))
    await beside.addSigningKey(key('b', T + 1))
    await store.addSigningKey(key('c', T + 2))
    await expect(beside.listSigningKeys()).resolves.toEqual([
      key('c', T + 2),
      { ...key('b', T + 1), retiredAt: T + 2 },
      { ...key('a', T), retiredAt: T + 1 },
    ])
    await store.pruneSigningKeys(T + 2)
    const left = await beside.listSigningKeys()
    expect(left.map(({ keyId }) => keyId)).toEqual(['c', 'b'])
  })

  test('an id of an account or a client of another tenant has an owner', async () => {
    const { store, account, client, tenantId } = setUp(given)
    await store.addTenant({
      tenantId,
      name: null,
      createdAt: T,
      suspendedAt: null,
      tier: 'enterprise',
      limits: {},
    })
    const [ada, editor] = [account(), client()]
    await store.addAccount(ada)
    await store.addClient(editor)
    for (const id of [ada.accountId, editor.clientId]) {
      await expect(store.findForeignOwner('default', id)).resolves.toBe(tenantId)
      await expect(store.findForeignOwner(tenantId, id)).resolves.toBeNull()
    }
  })
}
