// The audit log (AUD-1): every refusal at the door and every act of administration is written down, with who, from where
// and why, and never a secret. Rows that come while others are being written go together in the next write; a flood is
// bounded, and says how much of it is missing.
import type { AuditEvent, AuditSeverity } from '@asyncgate/sdk'
import { createLatest } from '../auth/latest.ts'
import { createLine } from '../auth/line.ts'
import { DEFAULT_TENANT, type Principal } from '../auth/caller.ts'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import { networkOf } from '../limits/failed-logins.ts'
import type { AuditRow, AuditStore } from '../store/audit.ts'
import type { CallLog } from './dispatch.ts'

/** From where a request came. */
export interface Origin {
  readonly ip: string | null
  readonly userAgent: string | null
}

/** Of calls from within the process. */
export const FROM_WITHIN: Origin = { ip: null, userAgent: null }

export interface AuditEntry {
  readonly event: AuditEvent
  /** Whose log it belongs in. */
  readonly tenantId: string
  readonly principal: Principal | null
  readonly origin: Origin
  readonly requestId: string
  readonly reason: string
}

export interface Audit {
  /** Resolves when it is written; rejects when it could not be. */
  record(entry: AuditEntry): Promise<void>
  /** The same for refusals, whose reply waits for nothing: what could not be written is logged. */
  note(entry: AuditEntry): void
  /** Whether ids that were not found are those of another tenant: that is an attempt, and noted as such. */
  lookOut(ids: readonly string[], entry: Omit<AuditEntry, 'event'>): void
  /** Resolves when everything that was noted is written or given up. */
  settled(): Promise<void>
}

const SEVERITIES: Readonly<Record<AuditEvent, AuditSeverity>> = {
  'authentication.failed': 'warning',
  'authorization.failed': 'warning',
  'cross_tenant.attempted': 'critical',
  'key.created': 'info',
  'key.rotated': 'info',
  'key.revoked': 'info',
  'rate_limit.exceeded': 'warning',
  'quota.exceeded': 'warning',
  'account.created': 'info',
  'account.password_set': 'info',
  'account.disabled': 'warning',
  'account.enabled': 'info',
  'client.registered': 'info',
  'client.revoked': 'warning',
  'login.succeeded': 'info',
  'login.failed': 'warning',
  'consent.given': 'info',
  'consent.denied': 'info',
  'authorization.refused': 'warning',
  'token.issued': 'info',
  'token.refused': 'warning',
  'token.reused': 'critical',
  'grant.revoked': 'info',
  'signing_key.rotated': 'warning',
  'tenant.created': 'info',
  'tenant.limited': 'info',
  'tenant.suspended': 'warning',
  'tenant.resumed': 'info',
  'type.changed': 'info',
  'type.deleted': 'info',
  'audit.incomplete': 'critical',
}

/** More than this waiting is a flood. */
const WAITING_MAX = 1_000
/** Rows of one transaction. */
const BATCH_MAX = 100
const LOOKOUTS_WAITING_MAX = 100
/** Ids of one call that are looked for. */
const IDS_MAX = 10
const TEXT_LENGTH_MAX = 300
const LIMITED_EVERY_MS = 60_000
const LIMITED_KNOWN_MAX = 10_000
/** In a minute, about calls from one network of which nobody knows whose they are: strangers must not fill the database. */
const STRANGERS_ROWS_MAX = 300
const STRANGERS_KNOWN_MAX = 10_000
const MINUTE_MS = 60_000

export interface AuditParts {
  readonly store: AuditStore
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
  readonly log: CallLog
}

interface Waiting {
  readonly row: AuditRow
  readonly written: () => void
  readonly failed: (error: unknown) => void
}

export function createAudit({ store, clock, ids, log }: AuditParts): Audit {
  let waiting: Waiting[] = []
  let missing = 0
  let writing: Promise<void> | null = null
  const lookouts = new Set<Promise<void>>()
  const limited = createLatest<number>(LIMITED_KNOWN_MAX)
  const strangers = createLatest<{ readonly since: number; readonly rows: number }>(STRANGERS_KNOWN_MAX)
  const oneAtATime = createLine({ atOnce: 1, waitingMax: LOOKOUTS_WAITING_MAX })

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      await store.appendAudit(batch.map(({ row }) => row)).then(
        () => batch.forEach(({ written }) => written()),
        (error: unknown) => batch.forEach(({ failed }) => failed(error)),
      )
    }
    writing = null
  }

  function record(entry: AuditEntry): Promise<void> {
    const { promise, resolve: written, reject: failed } = Promise.withResolvers<void>()
    waiting.push({ row: rowOf(entry, ids.next(), clock.now()), written, failed })
    writing ??= write()
    return promise
  }

  /** Whoever is held to a limit is refused with every call, and is on record once in a while. */
  function isRepeated({ event, tenantId, principal, origin }: AuditEntry): boolean {
    if (event !== 'rate_limit.exceeded' && event !== 'quota.exceeded') return false
    const who = principal === null ? origin.ip : `${principal.kind}/${principal.id}`
    const key = `${event} ${tenantId} ${who}`
    const lastAt = limited.get(key)
    if (lastAt !== undefined && clock.now() - lastAt < LIMITED_EVERY_MS) return true
    limited.set(key, clock.now())
    return false
  }

  function isFlood({ principal, origin }: AuditEntry): boolean {
    if (principal !== null || origin.ip === null) return false
    const network = networkOf(origin.ip)
    const now = clock.now()
    const last = strangers.get(network)
    const { since, rows } =
      last !== undefined && now - last.since < MINUTE_MS ? last : { since: now, rows: 0 }
    strangers.set(network, { since, rows: rows + 1 })
    return rows >= STRANGERS_ROWS_MAX
  }

  function note(entry: AuditEntry): void {
    if (isRepeated(entry)) return
    if (waiting.length >= WAITING_MAX || isFlood(entry)) {
      missing += 1
      return
    }
    if (missing > 0) {
      const reason = `${missing} rows are missing: they came too fast, or too many from one address.`
      missing = 0
      recordOrLog({ ...entry, event: 'audit.incomplete', tenantId: DEFAULT_TENANT, principal: null, reason })
    }
    recordOrLog(entry)
  }

  function recordOrLog(entry: AuditEntry): void {
    record(entry).catch((error: unknown) =>
      log.error(
        { error, event: entry.event, request_id: entry.requestId },
        'an audit row could not be written',
      ),
    )
  }

  async function look(wanted: readonly string[], entry: Omit<AuditEntry, 'event'>): Promise<void> {
    for (const id of wanted.slice(0, IDS_MAX)) {
      const owner = await store.findForeignOwner(entry.tenantId, id)
      if (owner === null) continue
      // In the operators' own log: in its own the caller could read that the id exists.
      const reason = `Tenant ${entry.tenantId} asked for ${id}, which is of tenant ${owner}. ${entry.reason}`
      return note({ ...entry, event: 'cross_tenant.attempted', tenantId: DEFAULT_TENANT, reason })
    }
  }

  return {
    record,
    note,
    lookOut: (wanted, entry) => {
      const looking = oneAtATime(
        () => look(wanted, entry),
        () => new Error('too many ids are being looked for'),
      ).catch((error: unknown) =>
        log.error({ error, request_id: entry.requestId }, 'ids that were not found could not be looked for'),
      )
      lookouts.add(looking)
      // Nobody waits for it but `settled`, and it does not reject.
      void looking.finally(() => lookouts.delete(looking))
    },
    settled: async () => {
      await Promise.all(lookouts)
      await writing
    },
  }
}

function rowOf(entry: AuditEntry, auditId: string, at: number): AuditRow {
  const { event, tenantId, principal, origin, requestId, reason } = entry
  const { ip, userAgent } = origin
  return {
    ...{ tenantId, auditId, at, event, severity: SEVERITIES[event], principal, ip, requestId },
    userAgent: userAgent === null ? null : plain(userAgent),
    reason: plain(reason),
  }
}

/** What no store keeps, and what would fill it, is left out. */
function plain(text: string): string {
  return text.replaceAll('\0', '').toWellFormed().slice(0, TEXT_LENGTH_MAX)
}
