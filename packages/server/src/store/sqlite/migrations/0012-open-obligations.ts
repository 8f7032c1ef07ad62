// The table of obligations keeps what is open, and nothing else. What discharged an obligation is the receipt that its task
// ended with; where it is another, `discharges` names it.
import { statistics } from './first-statistics.ts'

const MANY = 1_000_000

export const openObligations = {
  name: '0012_open_obligations',
  sql: `
create table discharges (
  tenant_id text not null,
  receipt_id text not null,
  discharged_by text not null,
  primary key (tenant_id, receipt_id)
) without rowid;

insert into discharges
select o.tenant_id, o.receipt_id, o.discharged_by
from obligations o
left join tasks t on t.tenant_id = o.tenant_id and t.assigned_receipt_id = o.receipt_id
left join ended e on e.tenant_id = t.tenant_id and e.task_id = t.task_id
where o.discharged_by is not null and e.terminal_receipt_id is not o.discharged_by;
delete from obligations where discharged_by is not null;

drop index obligations_open;
alter table obligations drop column discharged_by;
create index obligations_open on obligations (tenant_id, to_kind, to_id, position);
${statistics({ discharges: { discharges: [MANY, MANY, 1] } })}
`,
}
