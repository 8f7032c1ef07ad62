// What a tenant may have, what it has used of it, and the token buckets of its rates.
//
// `room` is what the last commit that was held to a quota left of it. It is never less than nothing: a commit that would
// make it so has lost a race for the last places, and is decided again.
//
// Buckets are not logged: after a crash of the database all are full, and nothing else is lost.
export const limits = {
  name: '0008_limits',
  sql: `
alter table tenants add column tier text collate "C" not null default 'enterprise';
alter table tenants add column limits json not null default '{}';

alter table ledgers add column active_tasks bigint not null default 0;
alter table ledgers add column receipt_bytes bigint not null default 0;
alter table ledgers add column room bigint not null default 0 constraint ledgers_room check (room >= 0);
update ledgers set
  active_tasks = (
    select count(*) from task_states s
    where s.tenant_id = ledgers.tenant_id and s.status in ('queued', 'leased', 'running')
  ),
  receipt_bytes = (
    select coalesce(sum(octet_length(r.body::text)), 0) from receipts r where r.tenant_id = ledgers.tenant_id
  );

create unlogged table rate_buckets (
  tenant_id text collate "C" not null,
  bucket text collate "C" not null,
  full_at_us bigint not null,
  primary key (tenant_id, bucket)
) with (fillfactor = 50);
`,
}
