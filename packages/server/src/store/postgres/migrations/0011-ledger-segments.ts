// The ledger in segments: rows of up to two dozen receipts that were committed together, instead of one row for each. The
// members of each receipt stand in the order in which the view names them (store/sql/segment.ts).
//
// Rows up to a whole page stay as they are: by itself PostgreSQL would compress whatever is longer than a quarter of one,
// and keep it apart. The text is not of the type json, which would be parsed when it is written.
//
// The ids of a segment are of one millisecond, those that there were before too: a new segment begins where that changes.
import { walled } from './tenant-wall.ts'

const FIRST_ROWS = 'generate_series(1, 1000) as n'

/**
 * A text out of a receipt that was taken apart. The operators for members would read the body with it, and fail on one that
 * contains the character U+0000.
 */
const text = (member: number) => `(m.members[${member}] #>> '{}')`

export const ledgerSegments = walled({
  name: '0011_ledger_segments',
  tables: ['ledger_segments', 'task_pages', 'receipt_keys'],
  drops: ['receipts'],
  sql: `
create table ledger_segments (
  tenant_id text collate "C" not null,
  first_position bigint not null,
  last_position bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  receipts text collate "C" not null,
  primary key (tenant_id, first_position)
) with (toast_tuple_target = 8160);

-- Which pages of the ledger hold receipts of a task.
create table task_pages (
  tenant_id text collate "C" not null,
  task_id uuid not null,
  page bigint not null,
  primary key (tenant_id, task_id, page)
);

-- What a change of state records happens once by itself; what principals and sweeps record could come twice.
create table receipt_keys (
  tenant_id text collate "C" not null,
  receipt_key bytea not null,
  position bigint not null,
  primary key (tenant_id, receipt_key)
);

alter table receipts no force row level security;
insert into ledger_segments
select tenant_id, min(position), max(position), (array_agg(receipt_id order by receipt_id))[1],
  (array_agg(receipt_id order by receipt_id desc))[1], '[' || string_agg(receipt, ',' order by position) || ']'
from (
  select tenant_id, position, receipt_id, receipt, count(*) filter (where is_other_time) over so_far as time,
    sum(octet_length(receipt)) over so_far as bytes
  from (
    select tenant_id, position, receipt_id,
      left(receipt_id::text, 13) is distinct from left(lag(receipt_id) over so_far::text, 13) as is_other_time,
      json_build_array(receipt_id, receipt_type, created_at, from_kind, from_id, to_kind, to_id, task_id, lease_id,
        schedule_id, parents, body, octet_length(body::text), encode(hash, 'hex'), encode(receipt_key, 'hex'), instance
      )::text as receipt
    from receipts
    window so_far as (partition by tenant_id order by position)
  ) as written
  window so_far as (partition by tenant_id order by position)
) as measured
group by tenant_id, time, position / 24, bytes / 7000;
insert into task_pages select distinct tenant_id, task_id, position / 128 from receipts where task_id is not null;
insert into receipt_keys select tenant_id, receipt_key, position from receipts where receipt_key is not null;
drop table receipts;

-- With where each segment ends, so that those that end before what is looked for are passed over within the index. The
-- condition always holds, and only the statement that the index is made for says it, as with the leases of 0001.
create index ledger_segments_id on ledger_segments (tenant_id, first_id, last_id)
  where first_id > '00000000-0000-0000-0000-000000000000';

-- Statistics before the first row, as in 0001.
insert into ledger_segments
select '', n * 16, n * 16 + 15, gen_random_uuid(), gen_random_uuid(), '[]' from ${FIRST_ROWS};
insert into task_pages select '', gen_random_uuid(), n from ${FIRST_ROWS};
insert into receipt_keys select '', decode(md5('k' || n), 'hex'), n from ${FIRST_ROWS};
analyze ledger_segments, task_pages, receipt_keys;
delete from ledger_segments where tenant_id = '';
delete from task_pages where tenant_id = '';
delete from receipt_keys where tenant_id = '';

create trigger ledger_segments_append_only before update or delete on ledger_segments
  for each row execute function refuse_receipt_change();
create trigger ledger_segments_no_truncate before truncate on ledger_segments
  for each statement execute function refuse_receipt_change();

-- One row for each receipt, for whoever looks into the database; the policies of its reader hold.
create view receipts with (security_invoker = true) as
select s.tenant_id, s.first_position + r.number - 1 as position, ${text(1)}::uuid as receipt_id,
  ${text(2)} as receipt_type, ${text(3)}::bigint as created_at, ${text(4)} as from_kind, ${text(5)} as from_id,
  ${text(6)} as to_kind, ${text(7)} as to_id, ${text(8)}::uuid as task_id, ${text(9)}::uuid as lease_id,
  ${text(10)} as schedule_id, m.members[11] as parents, m.members[12] as body, ${text(13)}::bigint as body_bytes,
  ${text(14)} as hash, ${text(15)} as receipt_key, ${text(16)} as instance
from ledger_segments s
cross join lateral json_array_elements(s.receipts::json) with ordinality as r(receipt, number)
cross join lateral (select array(select json_array_elements(r.receipt)) as members offset 0) as m;
`,
})
