// What a tenant may have, and what it has used of it.
//
// `room` is what the last commit that was held to a quota left of it. It is never less than nothing: a commit that would
// make it so has lost a race for the last places, and is decided again.
export const limits = {
  name: '0008_limits',
  sql: `
alter table tenants add column tier text not null default 'enterprise';
alter table tenants add column limits text not null default '{}';

alter table ledgers add column active_tasks integer not null default 0;
alter table ledgers add column receipt_bytes integer not null default 0;
alter table ledgers add column room integer not null default 0 constraint ledgers_room check (room >= 0);
update ledgers set
  active_tasks = (
    select count(*) from task_states s
    where s.tenant_id = ledgers.tenant_id and s.status in ('queued', 'leased', 'running')
  ),
  receipt_bytes = (
    select coalesce(sum(octet_length(r.body)), 0) from receipts r where r.tenant_id = ledgers.tenant_id
  );
`,
}
