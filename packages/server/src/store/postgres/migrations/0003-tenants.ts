// Which tenants there are. The default one has been there from the beginning.
export const tenants = {
  name: '0003_tenants',
  sql: `
create table tenants (
  tenant_id text collate "C" not null primary key,
  name text collate "C",
  created_at bigint not null,
  suspended_at bigint
);
insert into tenants (tenant_id, created_at) values ('default', 0);
`,
}
