// What became of a task lies on one of three shelves, by its status: `queued`, `leased` (with its lease) and `ended`. A
// change of status takes one narrow row from one shelf and puts one on the next. In the table of states that these replace,
// each change rewrote the entries of every index, in indexes as large as the history; what was ready, delayed or parked, and
// every lease, had rows of their own beside it.
//
// The shelf is the index of a status: only what has ended needs one. `place` leads to the indexes of `queued`, each for the
// tasks of its place alone. On `leased`, neither a renewal nor a start touches an index. The last condition of its indexes
// always holds. It is there because only the statement that the index is made for says it: when few tasks are leased, the
// planner takes all of these indexes for equally good. The same goes for the index of what is ready of any type.
import { walled } from './tenant-wall.ts'

const ROWS = 1_000

export const shelves = walled({
  name: '0010_shelves',
  tables: ['queued', 'leased', 'ended', 'settlements'],
  drops: ['task_states', 'ready', 'delayed', 'parked', 'leases'],
  sql: `
create table queued (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  place text collate "C" not null,
  lane text collate "C" not null,
  type text collate "C" not null,
  neg_priority integer not null,
  concurrency_key text collate "C",
  concurrency_limit integer,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at bigint not null,
  updated_at bigint not null,
  started_at bigint,
  has_dependents boolean not null,
  primary key (tenant_id, task_id)
);

create table leased (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  status text collate "C" not null,
  lease_id uuid not null,
  worker_kind text collate "C" not null,
  worker_id text collate "C" not null,
  granted_at bigint not null,
  ttl_ms bigint not null,
  expires_at bigint not null,
  timeout_at bigint,
  check_at bigint not null,
  renewals integer not null,
  concurrency_key text collate "C",
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at bigint not null,
  updated_at bigint not null,
  started_at bigint,
  has_dependents boolean not null,
  primary key (tenant_id, task_id)
) with (fillfactor = 80);

-- The lease is the one that ended the task, where a worker did; its last word is kept for who repeats it.
create table ended (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  status text collate "C" not null,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at bigint not null,
  updated_at bigint not null,
  started_at bigint,
  completed_at bigint not null,
  dead_letter boolean not null,
  has_dependents boolean not null,
  terminal_receipt_id uuid not null,
  result json not null,
  lease_id uuid,
  worker_kind text collate "C",
  worker_id text collate "C",
  settlement json,
  primary key (tenant_id, task_id)
);

-- The last words on leases that did not end their task: failures to be tried again, releases.
create table settlements (
  tenant_id text collate "C" not null,
  lease_id uuid not null,
  task_id uuid not null,
  worker_kind text collate "C" not null,
  worker_id text collate "C" not null,
  settlement json not null,
  primary key (tenant_id, lease_id)
);

alter table tasks no force row level security;
alter table task_states no force row level security;
alter table leases no force row level security;
insert into queued
select s.tenant_id, s.task_id, s.place, t.lane, t.type, -t.priority, t.concurrency_key, t.concurrency_limit, s.attempt,
  s.expiries, s.fence, s.next_eligible_at, s.updated_at, s.started_at, s.has_dependents
from task_states s
join tasks t on t.tenant_id = s.tenant_id and t.task_id = s.task_id
where s.status = 'queued';
insert into leased
select s.tenant_id, s.task_id, s.status, l.lease_id, l.worker_kind, l.worker_id, l.granted_at, l.ttl_ms, l.expires_at,
  l.timeout_at, l.check_at, l.renewals, l.concurrency_key, s.attempt, s.expiries, s.fence, s.next_eligible_at, s.updated_at,
  s.started_at, s.has_dependents
from task_states s
join leases l on l.tenant_id = s.tenant_id and l.task_id = s.task_id and l.ended_at is null
where s.status in ('leased', 'running');
insert into ended
select s.tenant_id, s.task_id, s.status, s.attempt, s.expiries, s.fence, s.next_eligible_at, s.updated_at, s.started_at,
  s.completed_at, s.dead_letter, s.has_dependents, s.terminal_receipt_id, s.result, l.lease_id, l.worker_kind, l.worker_id,
  l.settlement
from task_states s
left join leases l on l.tenant_id = s.tenant_id and l.task_id = s.task_id and l.fence = s.fence and l.settlement is not null
where s.completed_at is not null;
insert into settlements
select l.tenant_id, l.lease_id, l.task_id, l.worker_kind, l.worker_id, l.settlement
from leases l
where l.settlement is not null and not exists (
  select 1 from ended e where e.tenant_id = l.tenant_id and e.task_id = l.task_id and e.lease_id = l.lease_id
);
alter table tasks force row level security;
drop table task_states, ready, delayed, parked, leases;

create index queued_ready on queued (tenant_id, lane, type, neg_priority, task_id) where place = 'ready';
create index queued_ready_of_any_type on queued (tenant_id, lane, neg_priority, task_id) where place = 'ready' and type > '';
create index queued_delayed on queued (tenant_id, next_eligible_at, task_id) where place = 'delayed';
create index queued_parked on queued (tenant_id, concurrency_key, lane, type, concurrency_limit, neg_priority, task_id)
  where place = 'parked';
create index leased_check on leased (check_at) where check_at > 0;
create index leased_worker on leased (tenant_id, worker_id) where worker_id > '';
create index leased_key on leased (tenant_id, concurrency_key) where concurrency_key > '';
create index ended_status on ended (tenant_id, status, task_id);
create index ended_dead on ended (tenant_id, task_id) where dead_letter;

-- As in the first migration: statistics before the first row, so that no plan is made for empty tables.
insert into queued
select '', gen_random_uuid(), (array['ready', 'delayed', 'parked'])[1 + n % 3], '', 'type', 0, 'key ' || n % 100, 1, 0, 0, 0, n, n,
  null, false
from generate_series(1, ${ROWS}) as n;
insert into leased
select '', gen_random_uuid(), 'leased', gen_random_uuid(), 'worker', 'worker ' || n % 100, n, n, n, null, n, 0, 'key ' || n % 100, 0, 0,
  1, n, n, n, false
from generate_series(1, ${ROWS}) as n;
insert into ended
select '', gen_random_uuid(), (array['succeeded', 'failed', 'canceled'])[1 + n % 3], 0, 0, 1, n, n, n, n, false, false,
  gen_random_uuid(), '{}', gen_random_uuid(), 'worker', 'worker', '{}'
from generate_series(1, ${ROWS}) as n;
analyze queued, leased, ended;
delete from queued where tenant_id = '';
delete from leased where tenant_id = '';
delete from ended where tenant_id = '';
`,
})
