// Which tenants there are. The default one has been there from the beginning.
export const tenants = {
  name: '0003_tenants',
  sql: `
create table tenants (
  tenant_id text not null primary key,
  name text,
  created_at integer not null,
  suspended_at integer
) without rowid;
insert into tenants (tenant_id, created_at) values ('default', 0);
`,
}
