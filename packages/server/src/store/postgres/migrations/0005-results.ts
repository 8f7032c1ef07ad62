// Where results are kept that are not with their task. check_at: when somebody must see whether one is still needed.
export const results = {
  name: '0005_results',
  sql: `
create table stored_results (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  result_id uuid not null,
  kind text collate "C" not null,
  lease_id uuid,
  channel text collate "C" not null,
  pointer text collate "C" not null,
  content_type text collate "C" not null,
  sha256 text collate "C",
  bytes bigint,
  created_at bigint not null,
  check_at bigint,
  primary key (tenant_id, task_id, result_id)
);
create index stored_results_due on stored_results (check_at) where check_at is not null;
`,
}
