// What is registered of task types, and the tenants that accept no others.
export const taskTypes = {
  name: '0006_task_types',
  sql: `
create table task_types (
  tenant_id text collate "C" not null,
  type text collate "C" not null,
  description text collate "C",
  params_schema text collate "C",
  default_priority integer,
  default_max_attempts integer,
  default_timeout_seconds integer,
  default_retention_days integer,
  default_result_channel text collate "C",
  estimated_runtime_seconds integer,
  poll_suggestion_seconds integer,
  max_payload_bytes integer,
  max_concurrent integer,
  enabled boolean not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, type)
);
create table registered_only (
  tenant_id text collate "C" not null primary key
);
`,
}
