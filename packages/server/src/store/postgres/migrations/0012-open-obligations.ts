// The table of obligations keeps what is open, and nothing else. A row that was marked as discharged stayed in it for ever,
// and marking one wrote it anew, with entries in two indexes: of what a drained task cost PostgreSQL, the largest single
// part. What discharged an obligation is the receipt that its task ended with; where it is another, `discharges` names it.
import { walled } from './tenant-wall.ts'

export const openObligations = walled({
  name: '0012_open_obligations',
  tables: ['discharges'],
  sql: `
create table discharges (
  tenant_id text collate "C" not null,
  receipt_id uuid not null,
  discharged_by uuid not null,
  primary key (tenant_id, receipt_id)
);

alter table obligations no force row level security;
alter table tasks no force row level security;
alter table ended no force row level security;
insert into discharges
select o.tenant_id, o.receipt_id, o.discharged_by
from obligations o
where o.discharged_by is not null and not exists (
  select 1 from tasks t
  join ended e on e.tenant_id = t.tenant_id and e.task_id = t.task_id
  where t.tenant_id = o.tenant_id and t.assigned_receipt_id = o.receipt_id and e.terminal_receipt_id = o.discharged_by
);
delete from obligations where discharged_by is not null;
alter table obligations force row level security;
alter table tasks force row level security;
alter table ended force row level security;

drop index obligations_open;
alter table obligations drop column discharged_by;
create index obligations_open on obligations (tenant_id, to_kind, to_id, position);

-- Statistics before the first row, as in 0001.
insert into discharges select '', gen_random_uuid(), gen_random_uuid() from generate_series(1, 1000);
analyze discharges;
delete from discharges where tenant_id = '';
`,
})
