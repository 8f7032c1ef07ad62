// The head of a ledger is its last segment, which also tells what the tenant uses from then on.
export const ledgerHeads = {
  name: '0014_ledger_heads',
  sql: `
alter table ledger_segments add column active_tasks integer not null default 0;
alter table ledger_segments add column receipt_bytes integer not null default 0;
alter table ledger_segments add column room integer not null default 0
  constraint ledger_segments_room check (room >= 0);

drop trigger ledger_segments_no_update;
update ledger_segments set (active_tasks, receipt_bytes) = (
  select l.active_tasks, l.receipt_bytes from ledgers l where l.tenant_id = ledger_segments.tenant_id
)
where (tenant_id, first_position) in (select tenant_id, max(first_position) from ledger_segments group by tenant_id);
create trigger ledger_segments_no_update before update on ledger_segments
begin
  select raise(abort, 'receipts are append-only: a receipt is never changed');
end;

drop table ledgers;
delete from sqlite_stat1 where tbl = 'ledgers';
`,
}
