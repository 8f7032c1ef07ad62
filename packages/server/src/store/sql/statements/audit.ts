// The audit log, and the two questions across tenants that it asks.
import type { AuditEvent, AuditSeverity } from '@asyncgate/sdk'
import type { PrincipalKind } from '../../../engine/model.ts'
import { allOf, type Filter } from '../filter.ts'
import { earliestStart } from '../segment.ts'
import { bulk, listQuery, query, type Session, type Value } from '../session.ts'
import { mayHold } from './ledger.ts'

export interface AuditRecord {
  readonly tenant_id: string
  readonly audit_id: string
  readonly at: number
  readonly event: AuditEvent
  readonly severity: AuditSeverity
  readonly principal_kind: PrincipalKind | null
  readonly principal_id: string | null
  readonly ip: string | null
  readonly user_agent: string | null
  readonly request_id: string
  readonly reason: string
}

const COLUMNS = [
  ...['tenant_id', 'audit_id', 'at', 'event', 'severity', 'principal_kind', 'principal_id', 'ip'],
  ...['user_agent', 'request_id', 'reason'],
] as const satisfies readonly (keyof AuditRecord)[]
const columns = COLUMNS.join(', ')

const APPEND_AUDIT = query('append_audit', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `insert into audit_log (${columns}) values (${places})`
})

export function appendAudit(session: Session, row: AuditRecord): Promise<never[]> {
  return session.all(
    APPEND_AUDIT,
    COLUMNS.map((column): Value => row[column]),
  )
}

/** `$1` is the tenant, `$2` the id that the page ends before; the limit comes last. */
export function listAudit(session: Session, filter: Filter, limit: number): Promise<AuditRecord[]> {
  const { shape, conditions, params } = filter
  const statement = listQuery(
    `list_audit_${shape}`,
    () => `
      select ${columns} from audit_log
      where tenant_id = $1 and audit_id < $2 ${allOf(conditions)}
      order by tenant_id desc, audit_id desc
      limit $${params.length + 1}`,
  )
  return session.all(statement, [...params, limit])
}

/** Of all tenants: what is kept for a time only is the system's business. */
const AGED_AUDIT = query(
  'aged_audit',
  () => 'select tenant_id, audit_id from audit_log where at < $1 order by at limit $2',
)

export function agedAudit(
  session: Session,
  before: number,
  limit: number,
): Promise<{ tenant_id: string; audit_id: string }[]> {
  return session.all(AGED_AUDIT, [before, limit])
}

const REMOVE_AUDIT = bulk(
  'remove_audit',
  { audit_id: 'uuid' },
  (x, words) => `
    delete from audit_log
    where tenant_id = $1 and ${words.among('audit_id', `select x.audit_id from ${x}`)}
    returning audit_id`,
)

export function removeAudit(
  session: Session,
  tenantId: string,
  rows: readonly { audit_id: string }[],
): Promise<{ audit_id: string }[]> {
  return session.each(REMOVE_AUDIT, tenantId, rows)
}

const FOREIGN_OWNER = query('foreign_owner', (words) => {
  const id = words.id('$2')
  const holds = (table: string, column: string, wanted = id) =>
    `exists (select 1 from ${table} x where x.tenant_id = t.tenant_id and x.${column} = ${wanted})`
  return `
    select t.tenant_id from tenants t
    where t.tenant_id <> $1 and (
      ${holds('tasks', 'task_id')} or ${holds('leased', 'lease_id')} or ${holds('api_keys', 'key_id')} or ${holds('accounts', 'account_id')}
      or ${holds('oauth_clients', 'client_id', `cast(${id} as text)`)} or exists (
        select 1 from ledger_segments x where x.tenant_id = t.tenant_id and ${mayHold('x', { id, earliest: words.id('$3') })}
          and ${words.contains('x.receipts', `cast(${id} as text)`)}
      )
    )
    limit 1`
})

export function foreignOwner(
  session: Session,
  tenantId: string,
  id: string,
): Promise<{ tenant_id: string }[]> {
  return session.all(FOREIGN_OWNER, [tenantId, id, earliestStart(id)])
}
