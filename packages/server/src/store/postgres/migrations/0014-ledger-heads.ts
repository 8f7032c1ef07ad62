// The head of a ledger is its last segment, which also tells what the tenant uses from then on. Each commit wrote the row of
// `ledgers` anew instead, and PostgreSQL keeps all that a row has been for as long as anybody could still read it: beside a
// reader who stays, every commit stepped over all commits since.
import { walled } from './tenant-wall.ts'

export const ledgerHeads = walled({
  name: '0014_ledger_heads',
  tables: [],
  drops: ['ledgers'],
  sql: `
alter table ledger_segments add column active_tasks bigint not null default 0;
alter table ledger_segments add column receipt_bytes bigint not null default 0;
alter table ledger_segments add column room bigint not null default 0
  constraint ledger_segments_room check (room >= 0);

alter table ledger_segments no force row level security;
alter table ledger_segments disable trigger ledger_segments_append_only;
alter table ledgers no force row level security;
update ledger_segments s set active_tasks = l.active_tasks, receipt_bytes = l.receipt_bytes
from ledgers l
where s.tenant_id = l.tenant_id and s.first_position = (
  select e.first_position from ledger_segments e
  where e.tenant_id = l.tenant_id
  order by e.first_position desc
  limit 1
);
alter table ledger_segments enable trigger ledger_segments_append_only;
alter table ledger_segments force row level security;

drop table ledgers;
`,
})
