// Statistics before the first row. Every index starts with the tenant; without statistics PostgreSQL takes a
// tenant for one row and any such index for as good as another, and a new database would crawl until its
// first autovacuum. So the large tables are filled with rows of one nameless tenant, analysed, and emptied
// again: what was learnt stays.

const ROWS = 1_000
const ids = `generate_series(1, ${ROWS}) as n`

export const FIRST_STATISTICS = `
insert into tasks
select '', gen_random_uuid(), 'type', '', 0, 'agent', 'owner', 'agent', 'owner', null, null, null, null, null, n,
  gen_random_uuid(), '{}', '{}'
from ${ids};
insert into task_states
select '', gen_random_uuid(), (array['queued', 'leased', 'succeeded'])[1 + n % 3], 'none', 0, 0, 1, n, n, n, n, false, false,
  gen_random_uuid(), null
from ${ids};
insert into leases
select '', gen_random_uuid(), gen_random_uuid(), 'worker', 'worker ' || n % 100, 1, n, n, n, null, n, 0, 'key ' || n % 100,
  case n % 2 when 0 then n end, null, null
from ${ids};
insert into receipts
select '', n, gen_random_uuid(), (array['task.assigned', 'task.accepted', 'task.completed'])[1 + n % 3], n, 'agent', 'owner',
  'agent', 'owner', gen_random_uuid(), null, null, '[]', '{}', decode(md5('h' || n), 'hex'), decode(md5('k' || n), 'hex'), ''
from ${ids};
insert into obligations
select '', gen_random_uuid(), 'task.assigned', 'agent', 'owner', n, case n % 2 when 0 then gen_random_uuid() end
from ${ids};
insert into ready select '', '', 'type', 0, gen_random_uuid() from ${ids};
analyze tasks, task_states, leases, receipts, obligations, ready;
delete from tasks where tenant_id = '';
delete from task_states where tenant_id = '';
delete from leases where tenant_id = '';
delete from receipts where tenant_id = '';
delete from obligations where tenant_id = '';
delete from ready where tenant_id = '';
`
