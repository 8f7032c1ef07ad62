// What is ready in its turn lies apart from what became ready out of it: delayed tasks, those that a worker gave back, those
// that had to wait for others. A claim that knows where the first ends need not step over everything that was taken before,
// which PostgreSQL cannot forget while anybody reads for long (postgres/floors.ts).
//
// What a server of the version before puts here is out of turn.
export const turns = {
  name: '0013_turns',
  sql: `
alter table queued add column out_of_turn boolean not null default true;
drop index queued_ready;
drop index queued_ready_of_any_type;
create index queued_ready on queued (tenant_id, lane, type, out_of_turn, neg_priority, task_id) where place = 'ready';
create index queued_ready_of_any_type on queued (tenant_id, lane, out_of_turn, neg_priority, task_id)
  where place = 'ready' and type > '';

-- Statistics as if there were rows, as in 0001: an index that is made counts them anew.
alter table queued no force row level security;
insert into queued
select '', gen_random_uuid(), (array['ready', 'delayed', 'parked'])[1 + n % 3], '', 'type', 0, 'key ' || n % 100, 1, 0, 0, 0, n, n,
  null, false, n % 2 = 0
from generate_series(1, 1000) as n;
analyze queued;
delete from queued where tenant_id = '';
alter table queued force row level security;
`,
}
