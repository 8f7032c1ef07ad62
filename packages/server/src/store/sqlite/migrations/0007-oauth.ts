// Signing in: accounts and clients of each tenant; what the authorization server remembers, and the keys that it signs with.
export const oauth = {
  name: '0007_oauth',
  sql: `
create table accounts (
  tenant_id text not null,
  account_id text not null,
  username text not null,
  password_hash text,
  subject text,
  principal_kind text not null,
  principal_id text not null,
  role text not null,
  created_at integer not null,
  created_by_kind text not null,
  created_by_id text not null,
  disabled_at integer,
  primary key (tenant_id, account_id)
) without rowid;
create unique index accounts_username on accounts (tenant_id, username);
-- A token names the account before the tenant is known.
create unique index accounts_id on accounts (account_id);

-- Redirect addresses are words with spaces between them.
create table oauth_clients (
  tenant_id text not null,
  client_id text not null,
  name text not null,
  redirect_uris text not null,
  created_at integer not null,
  created_by_kind text not null,
  created_by_id text not null,
  revoked_at integer,
  primary key (tenant_id, client_id)
) without rowid;
-- Who asks for authorization names the client alone.
create unique index oauth_clients_id on oauth_clients (client_id);

-- Codes, tokens, grants, sessions: of no tenant before it is known whose they are.
create table oauth_artifacts (
  artifact_key text not null primary key,
  payload text not null,
  grant_id text,
  uid text,
  account_id text,
  client_id text,
  consumed_at integer,
  expires_at integer not null
) without rowid;
create index oauth_artifacts_grant on oauth_artifacts (grant_id) where grant_id is not null;
create index oauth_artifacts_uid on oauth_artifacts (uid) where uid is not null;
create index oauth_artifacts_account on oauth_artifacts (account_id) where account_id is not null;
create index oauth_artifacts_end on oauth_artifacts (expires_at);

create table oauth_signing_keys (
  key_id text not null primary key,
  sealed text not null,
  created_at integer not null,
  retired_at integer
) without rowid;
`,
}
