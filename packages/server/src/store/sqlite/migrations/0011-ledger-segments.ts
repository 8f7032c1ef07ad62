// The ledger in segments: rows of up to two dozen receipts that were committed together, instead of one row for each. The
// members of each receipt stand in the order in which the view names them (store/sql/segment.ts).
//
// The ids of a segment are of one millisecond, those that there were before too: a new segment begins where that changes.

/** Texts that may be null, as JSON. */
const quoted = (...columns: readonly string[]) =>
  columns.map((column) => `json_quote(${column})`).join(` || ',' || `)

export const ledgerSegments = {
  name: '0011_ledger_segments',
  sql: `
create table ledger_segments (
  tenant_id text not null,
  first_position integer not null,
  last_position integer not null,
  first_id text not null,
  last_id text not null,
  receipts text not null,
  primary key (tenant_id, first_position)
);

-- Which pages of the ledger hold receipts of a task.
create table task_pages (
  tenant_id text not null,
  task_id text not null,
  page integer not null,
  primary key (tenant_id, task_id, page)
) without rowid;

-- What a change of state records happens once by itself; what principals and sweeps record could come twice.
create table receipt_keys (
  tenant_id text not null,
  receipt_key blob not null,
  position integer not null,
  primary key (tenant_id, receipt_key)
) without rowid;

insert into ledger_segments
select tenant_id, min(position), max(position), min(receipt_id), max(receipt_id),
  '[' || group_concat(receipt, ',' order by position) || ']'
from (
  select tenant_id, position, receipt_id, receipt, sum(is_other_time) over so_far as time,
    sum(octet_length(receipt)) over so_far as bytes
  from (
    select tenant_id, position, receipt_id,
      substr(receipt_id, 1, 13) is not substr(lag(receipt_id) over so_far, 1, 13) as is_other_time,
      '[' || ${quoted('receipt_id', 'receipt_type', 'created_at', 'from_kind', 'from_id', 'to_kind', 'to_id')}
        || ',' || ${quoted('task_id', 'lease_id', 'schedule_id')} || ',' || parents || ',' || body
        || ',' || octet_length(body) || ',' || ${quoted('lower(hex(hash))', `lower(nullif(hex(receipt_key), ''))`, 'instance')}
        || ']' as receipt
    from receipts
    window so_far as (partition by tenant_id order by position)
  )
  window so_far as (partition by tenant_id order by position)
)
group by tenant_id, time, position / 24, bytes / 7000;
insert into task_pages select distinct tenant_id, task_id, position / 128 from receipts where task_id is not null;
insert into receipt_keys select tenant_id, receipt_key, position from receipts where receipt_key is not null;
drop table receipts;

-- The condition always holds, and only the statement that the index is made for says it, as with the leases of 0001.
create index ledger_segments_id on ledger_segments (tenant_id, first_id, last_id)
  where first_id > '00000000-0000-0000-0000-000000000000';

create trigger ledger_segments_no_update before update on ledger_segments
begin
  select raise(abort, 'receipts are append-only: a receipt is never changed');
end;
create trigger ledger_segments_no_delete before delete on ledger_segments
begin
  select raise(abort, 'receipts are append-only: a receipt is never deleted');
end;

-- Statistics before the first row, as in 0001.
delete from sqlite_stat1 where tbl = 'receipts';
insert into sqlite_stat1 (tbl, idx, stat) values
  ('ledger_segments', 'sqlite_autoindex_ledger_segments_1', '250000 250000 1'),
  ('ledger_segments', 'ledger_segments_id', '250000 250000 1 1'),
  ('task_pages', 'task_pages', '3000000 3000000 3 1'),
  ('receipt_keys', 'receipt_keys', '1000000 1000000 1');
analyze sqlite_schema;

-- One row for each receipt, for whoever looks into the database. The id has a type, so that SQLite can join by it.
create view receipts as
select s.tenant_id, s.first_position + r.key as position, cast(r.value ->> 0 as text) as receipt_id, r.value ->> 1 as receipt_type,
  r.value ->> 2 as created_at, r.value ->> 3 as from_kind, r.value ->> 4 as from_id, r.value ->> 5 as to_kind,
  r.value ->> 6 as to_id, r.value ->> 7 as task_id, r.value ->> 8 as lease_id, r.value ->> 9 as schedule_id,
  r.value -> 10 as parents, r.value -> 11 as body, r.value ->> 12 as body_bytes, r.value ->> 13 as hash,
  r.value ->> 14 as receipt_key, r.value ->> 15 as instance
from ledger_segments s
cross join json_each(s.receipts) as r;
`,
}
