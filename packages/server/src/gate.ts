// The composition root: the only file that knows every part. `openGate` is the server without a network, `startGate`
// puts HTTP before it.
import { hostname } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createAuthenticate } from './auth/authenticate.ts'
import { DEFAULT_TENANT } from './auth/caller.ts'
import type { Authenticate } from './auth/credential.ts'
import { createKeyCheck } from './auth/key-check.ts'
import type { HashCost } from './auth/secret-hash.ts'
import { openChannels } from './channel/open.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Config, isLoopback, requireKey, requireServable } from './config.ts'
import type { get } from './egress/get.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { createRecentWorkers } from './engine/recent-workers.ts'
import { type Audit, createAudit, FROM_WITHIN } from './facade/audit.ts'
import { createDispatch, type Dispatch } from './facade/dispatch.ts'
import { createHandlers } from './facade/handlers/index.ts'
import { createHostGuard, createOriginGuard } from './facade/host-guard.ts'
import { createHttp, listen } from './facade/http.ts'
import type { OAuth, OAuthSurroundings } from './facade/oauth/index.ts'
import { createCertificateKeeper, readTls } from './facade/tls.ts'
import { createIds, type Ids, type Random, systemIds, systemRandom } from './ids.ts'
import { type Limiting, openLimits } from './limits/open.ts'
import type { Plan } from './limits/tenant-plans.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createCollector } from './result/collect.ts'
import { readHealth } from './service/health.ts'
import { startLoop } from './service/loop.ts'
import { observe } from './service/observe.ts'
import { createPruner } from './service/pruner.ts'
import { createReaper } from './service/reaper.ts'
import { shareReading } from './service/shared-reading.ts'
import { migrateStore, openStore } from './store/open.ts'
import type { Store } from './store/port.ts'
import { createTypeRegistry } from './task-type/registry.ts'
import { VERSION } from './version.ts'

export { migrateStore, openStore } from './store/open.ts'

export interface GateParts {
  readonly log?: Log
  readonly clock?: Clock
  readonly random?: Random
  readonly ids?: Ids
  /** Already opened and migrated; closed by the gate all the same. */
  readonly store?: Store
  /** What hashing the secret of a key costs; by default what AUTH-1 asks for. Tests make many keys. */
  readonly hashCost?: HashCost
  /** Where several processes serve as one: the figures of all of them. */
  readonly figuresOfAll?: () => Promise<string>
  /** How documents of OAuth clients are fetched; by default from the public internet alone. */
  readonly get?: typeof get
  /** Who a credential stands for; by default what the configuration says. */
  readonly authenticate?: Authenticate
}

export interface Gate {
  readonly dispatch: Dispatch
  readonly audit: Audit
  readonly limits: Limiting
  readonly store: Store
  readonly engine: Engine
  readonly metrics: Metrics
  readonly instanceId: string
  health(): Promise<object>
  durability(): ReturnType<Store['durability']>
  ready(): Promise<boolean>
  /** One pass of what otherwise runs on a timer. */
  sweep(): Promise<void>
  /** Removes results that nobody can come to need; how many they were. */
  collect(): Promise<number>
  /** No new waits, what was accepted is committed, services and store are closed. */
  stop(): Promise<void>
}

export interface RunningGate extends Omit<Gate, 'stop'> {
  readonly url: string
  readonly host: string
  readonly port: number
  /** Reads the certificate again, where there is one. */
  reload(): Promise<void>
  /** False if the database did not let go in time: what still holds on to it ends with the process. */
  stop(): Promise<boolean>
}

/**
 * After this long, connections that are still open are cut off, and a database that hangs is left alone: also behind the
 * second that `dev` gives its worker, the process is gone within ten.
 */
const STOP_MS_MAX = 8_500
const PRUNE_INTERVAL_MS = 3_600_000
const CERTIFICATE_INTERVAL_MS = 30_000
const COLLECT_INTERVAL_MS = 60_000

export async function openGate(config: Config, parts: GateParts = {}): Promise<Gate> {
  const clock = parts.clock ?? systemClock
  const random = parts.random ?? systemRandom
  const ids = parts.ids ?? createIds({ clock, random })
  const log = parts.log ?? createLog(config)
  const instanceId =
    config.instanceId === 'auto' ? `${hostname()}-${ids.next().slice(-8)}` : config.instanceId
  const startedAt = clock.now()
  const channels = await openChannels(config)
  const store = parts.store ?? (await openMigrated(config, log))
  const stats = shareReading(() => store.stats(clock.now()), clock)
  const metrics = createMetrics({
    collect: stats,
    waitingClaims: () => engine.waitingClaims(),
    now: () => clock.now(),
  })
  const onError = (error: unknown) =>
    log.error({ error }, 'background work failed; the next sweep repeats it')
  const limits = await openLimits(config, { store, clock, log }).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const engine = createEngine({
    store,
    clock,
    ids,
    random,
    policy: config,
    policyOf: (tenantId) => policyOf(limits.plans.planOf(tenantId)),
    instance: instanceId,
    gather: nextTurn,
    onCommitted: (event) => observe(metrics, event, clock.now()),
    onError,
  })
  const reaper = createReaper({
    store,
    engine,
    clock,
    graceMs: config.lease.graceSeconds * 1_000,
    onRefused: onError,
  })
  const pruner = createPruner({ store, clock })
  const collector = createCollector({ store, channels, clock, ids }, onError)
  const loops = [
    { runOnce: () => reaper.runOnce(), intervalMs: config.lease.sweepIntervalSeconds * 1_000 },
    { runOnce: () => pruner.runOnce(), intervalMs: PRUNE_INTERVAL_MS },
    { runOnce: () => limits.sweep(), intervalMs: limits.sweepMs },
    { runOnce: () => collector.runOnce(), intervalMs: COLLECT_INTERVAL_MS },
  ].map((of) => startLoop({ ...of, clock, random, onError }))
  // Ids of its own: how often somebody was refused must not show in the ids of tasks.
  const audit = createAudit({ store, clock, ids: createIds({ clock, random: systemRandom }), log })
  const server = { name: 'asyncgate', version: VERSION, instanceId, startedAt }
  const handlers = createHandlers({
    engine,
    store,
    policy: config,
    plans: limits.plans,
    channels,
    list: config.list,
    claimWaitSecondsMax: config.claim.maxWaitSeconds,
    sweepIntervalSeconds: config.lease.sweepIntervalSeconds,
    workers: createRecentWorkers(),
    types: createTypeRegistry({ store, clock }),
    clock,
    ids,
    random,
    ...(parts.hashCost && { hashCost: parts.hashCost }),
    server,
    onClaim: (event) => metrics.onClaim(event),
  })
  const dispatch = createDispatch({
    handlers,
    limiter: limits.limiter,
    audit,
    log,
    ids,
    clock,
    metrics: (record) => metrics.onRequest(record),
  })
  return {
    dispatch,
    audit,
    limits,
    store,
    engine,
    metrics,
    instanceId,
    health: () => readHealth({ store, stats, engine, clock, server }),
    durability: () => store.durability(),
    ready: () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    sweep: async () => {
      await reaper.runOnce()
    },
    collect: () => collector.runOnce(),
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
      await engine.stop()
      await audit.settled()
      await limits.close()
      await store.close()
    },
  }
}

export async function startGate(config: Config, parts: GateParts = {}): Promise<RunningGate> {
  requireServable(config)
  const tls = readTls(config.tls)
  const clock = parts.clock ?? systemClock
  const random = parts.random ?? systemRandom
  const ids = parts.ids ?? createIds({ clock, random })
  const log = parts.log ?? createLog(config)
  const gate = await openGate(config, { ...parts, log, clock, ids })
  const { store } = gate
  await requireCallers(config, store, clock).catch(async (error: unknown) => {
    await gate.stop()
    throw error
  })
  const oauth = await openOAuth(config, { ...parts, store, clock, random, log, audit: gate.audit }).catch(
    async (error: unknown) => {
      await gate.stop()
      throw error
    },
  )
  const loopback = isLoopback(config.host)
  const { allowedHosts } = config.mcp
  const { corsOrigins } = config.http
  const ownNames = oauth ? [...allowedHosts, new URL(oauth.issuer).hostname] : allowedHosts
  const app = createHttp({
    dispatch: gate.dispatch,
    audit: gate.audit,
    authenticate:
      parts.authenticate ??
      createAuthenticate(config.auth, createKeyCheck({ store, clock, random }), oauth?.checkToken),
    ...(oauth && { oauth }),
    limiter: gate.limits.limiter,
    failedLogins: gate.limits.failedLogins,
    signIns: gate.limits.signIns,
    hostGuard: createHostGuard({ loopback, allowedHosts: loopback ? ownNames : allowedHosts, corsOrigins }),
    originGuard: createOriginGuard({ loopback, allowedHosts: ownNames, corsOrigins }),
    corsOrigins,
    trustedProxies: config.http.trustedProxies,
    tls,
    asksForCredentials: config.auth.mode === 'keys',
    toolNames: config.mcp.toolNames,
    version: VERSION,
    ids,
    log,
    health: gate.health,
    ready: gate.ready,
    metrics: parts.figuresOfAll ?? gate.metrics.text,
    metricsPublic: config.metrics.public || config.auth.mode === 'dev',
  })
  const url = await listen(app, config).catch(async (error: unknown) => {
    await gate.stop()
    throw error
  })
  const { port } = new URL(url)
  const certificate = tls && createCertificateKeeper(app.server, { settings: config.tls, first: tls })
  const reload = async () => {
    if (await certificate?.renew()) log.info('the certificate was read again')
  }
  const onError = (error: unknown) =>
    log.error({ error }, 'the certificate could not be read again; the last one stays')
  const renewing =
    certificate && startLoop({ runOnce: reload, intervalMs: CERTIFICATE_INTERVAL_MS, clock, random, onError })
  return {
    ...gate,
    reload: () => reload().catch(onError),
    url,
    host: config.host,
    port: Number(port),
    stop: () => {
      void renewing?.stop()
      // Waiting claims and reads are answered first, so that closing does not wait for them.
      const stopping = Promise.all([app.close(), gate.engine.stop()]).then(() => gate.stop())
      return isDoneWithin(STOP_MS_MAX, stopping, clock).finally(() => app.server.closeAllConnections())
    },
  }
}

function policyOf(plan: Plan | Promise<Plan>) {
  return plan instanceof Promise ? plan.then(({ policy }) => policy) : plan.policy
}

/** Its library warns, once it is loaded, of every Node that does not call itself LTS. */
async function quietly<T>(load: () => Promise<T>): Promise<T> {
  const { warn } = console
  console.warn = () => {}
  try {
    return await load()
  } finally {
    console.warn = warn
  }
}

/** Loaded where it is used: most servers ask for keys alone. */
async function openOAuth({ oauth: settings }: Config, parts: OAuthSurroundings): Promise<OAuth | null> {
  if (settings.issuer === null) return null
  const { createOAuth } = await quietly(() => import('./facade/oauth/index.ts'))
  const oauth = createOAuth(settings, parts)
  await oauth?.open()
  return oauth
}

/** A server that nobody could call is a mistake; it is told at the start. */
async function requireCallers({ auth, oauth }: Config, store: Store, clock: Clock): Promise<void> {
  if (auth.mode === 'keys' && auth.apiKey === null && oauth.issuer === null)
    requireKey(await store.hasLiveKeys(clock.now()))
}

/** The id of the key that signs from now on. Throws where the secret is not the one of this database. */
export async function rotateSigningKeys(
  { store, audit }: Pick<Gate, 'store' | 'audit'>,
  { secret, endsTokens }: { secret: string; endsTokens: boolean },
): Promise<string> {
  const { addKey, createSigningKeys } = await import('./auth/signing-keys.ts')
  const parts = { store, secret, clock: systemClock, random: systemRandom }
  await createSigningKeys(parts).current()
  const keyId = await addKey(parts)
  if (endsTokens) await store.pruneSigningKeys(Number.MAX_SAFE_INTEGER)
  await audit.record({
    event: 'signing_key.rotated',
    tenantId: DEFAULT_TENANT,
    principal: { kind: 'human', id: 'operator' },
    origin: FROM_WITHIN,
    requestId: systemIds.next(),
    reason: `New tokens are signed with ${keyId}.${endsTokens ? ' All tokens from before have ended.' : ''}`,
  })
  return keyId
}

function isDoneWithin(ms: number, work: Promise<void>, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false))
    work.finally(cancel).then(() => resolve(true), reject)
  })
}

async function openMigrated(config: Config, log: Log): Promise<Store> {
  const store = await openStore(config, log)
  try {
    await migrateStore(store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}
