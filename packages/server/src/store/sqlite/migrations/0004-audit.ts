// The audit log: who was refused and why, who made or ended keys and tenants. It is pruned by age.
export const audit = {
  name: '0004_audit',
  sql: `
create table audit_log (
  tenant_id text not null,
  audit_id text not null,
  at integer not null,
  event text not null,
  severity text not null,
  principal_kind text,
  principal_id text,
  ip text,
  user_agent text,
  request_id text not null,
  reason text not null,
  primary key (tenant_id, audit_id)
) without rowid;
create index audit_log_at on audit_log (at);
`,
}
