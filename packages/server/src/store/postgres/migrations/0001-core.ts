// The first schema: tasks, what is ready, leases, the ledger. Times are epoch milliseconds. JSON is kept as
// text (json, not jsonb), with its keys in order. Names compare byte by byte, whatever the database's locale.
import { FIRST_STATISTICS } from './first-statistics.ts'

export const core = {
  name: '0001_core',
  sql: `
create table tasks (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  type text collate "C" not null,
  lane text collate "C" not null,
  priority integer not null,
  created_by_kind text collate "C" not null,
  created_by_id text collate "C" not null,
  recipient_kind text collate "C" not null,
  recipient_id text collate "C" not null,
  idempotency_hash bytea,
  request_hash bytea,
  concurrency_key text collate "C",
  concurrency_limit integer,
  deadline_at bigint,
  created_at bigint not null,
  assigned_receipt_id uuid not null,
  payload json not null,
  definition json not null,
  primary key (tenant_id, task_id)
);
create unique index tasks_idempotency on tasks (tenant_id, idempotency_hash) where idempotency_hash is not null;
create index tasks_type on tasks (tenant_id, type, task_id);
create index tasks_owner on tasks (tenant_id, created_by_id, task_id);
create index tasks_recipient on tasks (tenant_id, recipient_id, task_id)
  where (recipient_id <> created_by_id or recipient_kind <> created_by_kind);

-- Room on each page, so that changes that touch no index stay on it.
create table task_states (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  status text collate "C" not null,
  place text collate "C" not null,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at bigint not null,
  updated_at bigint not null,
  started_at bigint,
  completed_at bigint,
  dead_letter boolean not null,
  has_dependents boolean not null,
  terminal_receipt_id uuid,
  result json,
  primary key (tenant_id, task_id)
) with (fillfactor = 80);
create index task_states_status on task_states (tenant_id, status, task_id);
create index task_states_dead on task_states (tenant_id, task_id) where dead_letter;

create table task_tags (
  tenant_id text collate "C" not null,
  tag text collate "C" not null,
  task_id uuid not null,
  primary key (tenant_id, tag, task_id)
);

create table lanes (
  tenant_id text collate "C" not null,
  lane text collate "C" not null,
  capabilities text[] not null,
  primary key (tenant_id, lane)
);

create table ready (
  tenant_id text collate "C" not null,
  lane text collate "C" not null,
  type text collate "C" not null,
  neg_priority integer not null,
  task_id uuid not null,
  primary key (tenant_id, lane, type, neg_priority, task_id)
);
-- An expression, so that a look for one type is never planned over this index.
create index ready_any_type on ready (tenant_id, (lane || ''), neg_priority, task_id);

create table delayed (
  tenant_id text collate "C" not null,
  eligible_at bigint not null,
  task_id uuid not null,
  lane text collate "C" not null,
  type text collate "C" not null,
  neg_priority integer not null,
  primary key (tenant_id, eligible_at, task_id)
);

create table parked (
  tenant_id text collate "C" not null,
  concurrency_key text collate "C" not null,
  lane text collate "C" not null,
  type text collate "C" not null,
  concurrency_limit integer not null,
  neg_priority integer not null,
  task_id uuid not null,
  primary key (tenant_id, concurrency_key, lane, type, concurrency_limit, neg_priority, task_id)
);

-- expires_at and renewals are in no index: a renewal rewrites one row and nothing else.
--
-- The last condition of each index over active leases always holds. It is there because only the statement
-- that the index is made for says it: when few leases are active, the planner takes all of these indexes for
-- equally good.
create table leases (
  tenant_id text collate "C" not null,
  lease_id uuid not null,
  task_id uuid not null,
  worker_kind text collate "C" not null,
  worker_id text collate "C" not null,
  fence integer not null,
  granted_at bigint not null,
  ttl_ms bigint not null,
  expires_at bigint not null,
  timeout_at bigint,
  check_at bigint not null,
  renewals integer not null,
  concurrency_key text collate "C",
  ended_at bigint,
  end_kind text collate "C",
  settlement json,
  primary key (tenant_id, lease_id)
) with (fillfactor = 80);
create unique index leases_active on leases (tenant_id, task_id) where ended_at is null and fence > 0;
create index leases_check on leases (check_at) where ended_at is null and check_at > 0;
create index leases_worker on leases (tenant_id, worker_id) where ended_at is null and worker_id > '';
create index leases_key on leases (tenant_id, concurrency_key) where ended_at is null and concurrency_key > '';

create table ledgers (
  tenant_id text collate "C" not null primary key,
  next_position bigint not null
) with (fillfactor = 10);

create table receipts (
  tenant_id text collate "C" not null,
  position bigint not null,
  receipt_id uuid not null,
  receipt_type text collate "C" not null,
  created_at bigint not null,
  from_kind text collate "C" not null,
  from_id text collate "C" not null,
  to_kind text collate "C" not null,
  to_id text collate "C" not null,
  task_id uuid,
  lease_id uuid,
  schedule_id text collate "C",
  parents json not null,
  body json not null,
  hash bytea not null,
  receipt_key bytea,
  instance text collate "C" not null,
  primary key (tenant_id, position)
);
create unique index receipts_id on receipts (tenant_id, receipt_id);
-- What a change of state records happens once by itself; what principals and sweeps record could come twice.
create unique index receipts_key on receipts (tenant_id, receipt_key) where receipt_key is not null;
create index receipts_task on receipts (tenant_id, task_id, position) where task_id is not null;

-- Which pages of the ledger hold receipts of a mark ("to ada", "type task.failed").
create table ledger_pages (
  tenant_id text collate "C" not null,
  mark text collate "C" not null,
  page bigint not null,
  primary key (tenant_id, mark, page)
);

create table obligations (
  tenant_id text collate "C" not null,
  receipt_id uuid not null,
  receipt_type text collate "C" not null,
  to_kind text collate "C" not null,
  to_id text collate "C" not null,
  position bigint not null,
  discharged_by uuid,
  primary key (tenant_id, receipt_id)
);
create index obligations_open on obligations (tenant_id, to_kind, to_id, position) where discharged_by is null;

${FIRST_STATISTICS}
create function refuse_receipt_change() returns trigger language plpgsql as $$
begin
  raise exception 'receipts are append-only: % is refused', lower(tg_op) using errcode = 'restrict_violation';
end
$$;
create trigger receipts_append_only before update or delete on receipts
  for each row execute function refuse_receipt_change();
create trigger receipts_no_truncate before truncate on receipts
  for each statement execute function refuse_receipt_change();

create table dependencies (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  depends_on uuid not null,
  due boolean not null,
  primary key (tenant_id, task_id, depends_on)
);
create index dependencies_on on dependencies (tenant_id, depends_on);
create index dependencies_due on dependencies (tenant_id, task_id) where due;

create table timers (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  kind text collate "C" not null,
  due_at bigint not null,
  primary key (tenant_id, task_id, kind)
);
create index timers_due on timers (due_at);

create table progress (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  position integer not null,
  worker_id text collate "C" not null,
  fence integer not null,
  reported_at bigint not null,
  progress json not null,
  primary key (tenant_id, task_id, position)
);

create table principals (
  tenant_id text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  sessions_count integer not null,
  instance_id text collate "C",
  primary key (tenant_id, kind, id)
) with (fillfactor = 80);
`,
}
