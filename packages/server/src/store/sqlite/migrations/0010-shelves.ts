// What became of a task lies on one of three shelves, by its status: `queued`, `leased` (with its lease) and `ended`. A
// change of status takes one narrow row from one shelf and puts one on the next. In the table of states that these replace,
// each change rewrote the entries of its indexes; what was ready, delayed or parked, and every lease, had rows of their own
// beside it.
//
// The shelf is the index of a status: only what has ended needs one. `place` leads to the indexes of `queued`, each for the
// tasks of its place alone. The last condition of the indexes of `leased` always holds; only the statement that the index is
// made for says it.
import { statistics } from './first-statistics.ts'

const TASKS = 1_000_000
const ACTIVE = 1_000

export const shelves = {
  name: '0010_shelves',
  sql: `
create table queued (
  tenant_id text not null,
  task_id text not null,
  place text not null,
  lane text not null,
  type text not null,
  neg_priority integer not null,
  concurrency_key text,
  concurrency_limit integer,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at integer not null,
  updated_at integer not null,
  started_at integer,
  has_dependents integer not null,
  primary key (tenant_id, task_id)
) without rowid;

create table leased (
  tenant_id text not null,
  task_id text not null,
  status text not null,
  lease_id text not null,
  worker_kind text not null,
  worker_id text not null,
  granted_at integer not null,
  ttl_ms integer not null,
  expires_at integer not null,
  timeout_at integer,
  check_at integer not null,
  renewals integer not null,
  concurrency_key text,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at integer not null,
  updated_at integer not null,
  started_at integer,
  has_dependents integer not null,
  primary key (tenant_id, task_id)
) without rowid;

-- The lease is the one that ended the task, where a worker did; its last word is kept for who repeats it.
create table ended (
  tenant_id text not null,
  task_id text not null,
  status text not null,
  attempt integer not null,
  expiries integer not null,
  fence integer not null,
  next_eligible_at integer not null,
  updated_at integer not null,
  started_at integer,
  completed_at integer not null,
  dead_letter integer not null,
  has_dependents integer not null,
  terminal_receipt_id text not null,
  result text not null,
  lease_id text,
  worker_kind text,
  worker_id text,
  settlement text,
  primary key (tenant_id, task_id)
) without rowid;

-- The last words on leases that did not end their task: failures to be tried again, releases.
create table settlements (
  tenant_id text not null,
  lease_id text not null,
  task_id text not null,
  worker_kind text not null,
  worker_id text not null,
  settlement text not null,
  primary key (tenant_id, lease_id)
) without rowid;

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
drop table task_states;
drop table ready;
drop table delayed;
drop table parked;
drop table leases;

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

${statistics({
  queued: {
    queued: [TASKS, TASKS, 1],
    queued_ready: [TASKS, TASKS, TASKS, TASKS / 10, TASKS / 20, 1],
    queued_ready_of_any_type: [TASKS, TASKS, TASKS, TASKS / 2, 1],
    queued_delayed: [TASKS, TASKS, 1, 1],
    queued_parked: [TASKS, TASKS, 1_000, 1_000, 500, 500, 100, 1],
  },
  leased: {
    leased: [ACTIVE, ACTIVE, 1],
    leased_check: [ACTIVE, 1],
    leased_worker: [ACTIVE, ACTIVE, 10],
    leased_key: [ACTIVE, ACTIVE, 10],
  },
  ended: {
    ended: [TASKS, TASKS, 1],
    ended_status: [TASKS, TASKS, TASKS / 3, 1],
    ended_dead: [ACTIVE, ACTIVE, 1],
  },
  settlements: { settlements: [ACTIVE, ACTIVE, 1] },
})}`,
}
