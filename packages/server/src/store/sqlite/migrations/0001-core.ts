// The first schema: tasks, what is ready, leases, the ledger. Ids are text; times are epoch milliseconds;
// JSON is text. Narrow tables are kept in their primary key (without rowid); tasks and receipts are wide, and
// only ever added.
import { FIRST_STATISTICS } from './first-statistics.ts'

export const core = {
  name: '0001_core',
  sql: `
create table tasks (
  tenant_id text not null,
  task_id text not null,
  type text not null,
  lane text not null,
  priority integer not null,
  created_by_kind text not null,
  created_by_id text not null,
  recipient_kind text not null,
  recipient_id text not null,
  idempotency_hash blob,
  request_hash blob,
  concurrency_key text,
  concurrency_limit integer,
  deadline_at integer,
  created_at integer not null,
  assigned_receipt_id text not null,
  payload text not null,
  definition text not null,
  primary key (tenant_id, task_id)
);
create unique index tasks_idempotency on tasks (tenant_id, idempotency_hash) where idempotency_hash is not null;
create index tasks_type on tasks (tenant_id, type, task_id);
create index tasks_owner on tasks (tenant_id, created_by_id, task_id);
create index tasks_recipient on tasks (tenant_id, recipient_id, task_id)
  where (recipient_id <> created_by_id or recipient_kind <> created_by_kind);

create table task_states (
  tenant_id text not null,
  task_id text not null,
  status text not null,
  place text not null,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at integer not null,
  updated_at integer not null,
  started_at integer,
  completed_at integer,
  dead_letter integer not null,
  has_dependents integer not null,
  terminal_receipt_id text,
  result text,
  primary key (tenant_id, task_id)
) without rowid;
create index task_states_status on task_states (tenant_id, status, task_id);
create index task_states_dead on task_states (tenant_id, task_id) where dead_letter;

create table task_tags (
  tenant_id text not null,
  tag text not null,
  task_id text not null,
  primary key (tenant_id, tag, task_id)
) without rowid;

create table lanes (
  tenant_id text not null,
  lane text not null,
  capabilities text not null,
  primary key (tenant_id, lane)
) without rowid;

create table ready (
  tenant_id text not null,
  lane text not null,
  type text not null,
  neg_priority integer not null,
  task_id text not null,
  primary key (tenant_id, lane, type, neg_priority, task_id)
) without rowid;
create index ready_any_type on ready (tenant_id, lane, neg_priority, task_id);

create table delayed (
  tenant_id text not null,
  eligible_at integer not null,
  task_id text not null,
  lane text not null,
  type text not null,
  neg_priority integer not null,
  primary key (tenant_id, eligible_at, task_id)
) without rowid;

create table parked (
  tenant_id text not null,
  concurrency_key text not null,
  lane text not null,
  type text not null,
  concurrency_limit integer not null,
  neg_priority integer not null,
  task_id text not null,
  primary key (tenant_id, concurrency_key, lane, type, concurrency_limit, neg_priority, task_id)
) without rowid;

create table leases (
  tenant_id text not null,
  lease_id text not null,
  task_id text not null,
  worker_kind text not null,
  worker_id text not null,
  fence integer not null,
  granted_at integer not null,
  ttl_ms integer not null,
  expires_at integer not null,
  timeout_at integer,
  check_at integer not null,
  renewals integer not null,
  concurrency_key text,
  ended_at integer,
  end_kind text,
  settlement text,
  primary key (tenant_id, lease_id)
) without rowid;
-- The last condition of each of these always holds; only the statement that the index is made for says it.
create unique index leases_active on leases (tenant_id, task_id) where ended_at is null and fence > 0;
create index leases_check on leases (check_at) where ended_at is null and check_at > 0;
create index leases_worker on leases (tenant_id, worker_id) where ended_at is null and worker_id > '';
create index leases_key on leases (tenant_id, concurrency_key) where ended_at is null and concurrency_key > '';

create table ledgers (
  tenant_id text not null primary key,
  next_position integer not null
) without rowid;

create table receipts (
  tenant_id text not null,
  position integer not null,
  receipt_id text not null,
  receipt_type text not null,
  created_at integer not null,
  from_kind text not null,
  from_id text not null,
  to_kind text not null,
  to_id text not null,
  task_id text,
  lease_id text,
  schedule_id text,
  parents text not null,
  body text not null,
  hash blob not null,
  receipt_key blob,
  instance text not null,
  primary key (tenant_id, position)
);
create unique index receipts_id on receipts (tenant_id, receipt_id);
-- What a change of state records happens once by itself; what principals and sweeps record could come twice.
create unique index receipts_key on receipts (tenant_id, receipt_key) where receipt_key is not null;
create index receipts_task on receipts (tenant_id, task_id, position) where task_id is not null;

-- Which pages of the ledger hold receipts of a mark ("to ada", "type task.failed").
create table ledger_pages (
  tenant_id text not null,
  mark text not null,
  page integer not null,
  primary key (tenant_id, mark, page)
) without rowid;

create trigger receipts_no_update before update on receipts
begin
  select raise(abort, 'receipts are append-only: a receipt is never changed');
end;
create trigger receipts_no_delete before delete on receipts
begin
  select raise(abort, 'receipts are append-only: a receipt is never deleted');
end;

create table obligations (
  tenant_id text not null,
  receipt_id text not null,
  receipt_type text not null,
  to_kind text not null,
  to_id text not null,
  position integer not null,
  discharged_by text,
  primary key (tenant_id, receipt_id)
) without rowid;
create index obligations_open on obligations (tenant_id, to_kind, to_id, position) where discharged_by is null;

create table dependencies (
  tenant_id text not null,
  task_id text not null,
  depends_on text not null,
  due integer not null,
  primary key (tenant_id, task_id, depends_on)
) without rowid;
create index dependencies_on on dependencies (tenant_id, depends_on);
create index dependencies_due on dependencies (tenant_id, task_id) where due;

create table timers (
  tenant_id text not null,
  task_id text not null,
  kind text not null,
  due_at integer not null,
  primary key (tenant_id, task_id, kind)
) without rowid;
create index timers_due on timers (due_at);

create table progress (
  tenant_id text not null,
  task_id text not null,
  position integer not null,
  worker_id text not null,
  fence integer not null,
  reported_at integer not null,
  progress text not null,
  primary key (tenant_id, task_id, position)
) without rowid;

create table principals (
  tenant_id text not null,
  kind text not null,
  id text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  sessions_count integer not null,
  instance_id text,
  primary key (tenant_id, kind, id)
) without rowid;
${FIRST_STATISTICS}`,
}
