// What is registered of task types, and the tenants that accept no others.
export const taskTypes = {
  name: '0006_task_types',
  sql: `
create table task_types (
  tenant_id text not null,
  type text not null,
  description text,
  params_schema text,
  default_priority integer,
  default_max_attempts integer,
  default_timeout_seconds integer,
  default_retention_days integer,
  default_result_channel text,
  estimated_runtime_seconds integer,
  poll_suggestion_seconds integer,
  max_payload_bytes integer,
  max_concurrent integer,
  enabled boolean not null,
  created_at integer not null,
  updated_at integer not null,
  primary key (tenant_id, type)
) without rowid;
create table registered_only (
  tenant_id text not null primary key
) without rowid;
`,
}
