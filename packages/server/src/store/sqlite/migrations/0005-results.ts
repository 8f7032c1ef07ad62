// Where results are kept that are not with their task. check_at: when somebody must see whether one is still needed.
export const results = {
  name: '0005_results',
  sql: `
create table stored_results (
  tenant_id text not null,
  task_id text not null,
  result_id text not null,
  kind text not null,
  lease_id text,
  channel text not null,
  pointer text not null,
  content_type text not null,
  sha256 text,
  bytes integer,
  created_at integer not null,
  check_at integer,
  primary key (tenant_id, task_id, result_id)
) without rowid;
create index stored_results_due on stored_results (check_at) where check_at is not null;
`,
}
