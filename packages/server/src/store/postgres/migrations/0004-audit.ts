// The audit log: who was refused and why, who made or ended keys and tenants. It is pruned by age.
export const audit = {
  name: '0004_audit',
  sql: `
create table audit_log (
  tenant_id text collate "C" not null,
  audit_id uuid not null,
  at bigint not null,
  event text collate "C" not null,
  severity text collate "C" not null,
  principal_kind text collate "C",
  principal_id text collate "C",
  ip text collate "C",
  user_agent text collate "C",
  request_id text collate "C" not null,
  reason text collate "C" not null,
  primary key (tenant_id, audit_id)
);
create index audit_log_at on audit_log (at);
`,
}
