// Signing in: accounts and clients of each tenant; what the authorization server remembers, and the keys that it signs with.
export const oauth = {
  name: '0007_oauth',
  sql: `
create table accounts (
  tenant_id text collate "C" not null,
  account_id uuid not null,
  username text collate "C" not null,
  password_hash text collate "C",
  subject text collate "C",
  principal_kind text collate "C" not null,
  principal_id text collate "C" not null,
  role text collate "C" not null,
  created_at bigint not null,
  created_by_kind text collate "C" not null,
  created_by_id text collate "C" not null,
  disabled_at bigint,
  primary key (tenant_id, account_id)
);
create unique index accounts_username on accounts (tenant_id, username);
-- A token names the account before the tenant is known.
create unique index accounts_id on accounts (account_id);

-- Redirect addresses are words with spaces between them.
create table oauth_clients (
  tenant_id text collate "C" not null,
  client_id text collate "C" not null,
  name text collate "C" not null,
  redirect_uris text collate "C" not null,
  created_at bigint not null,
  created_by_kind text collate "C" not null,
  created_by_id text collate "C" not null,
  revoked_at bigint,
  primary key (tenant_id, client_id)
);
-- Who asks for authorization names the client alone.
create unique index oauth_clients_id on oauth_clients (client_id);

-- Codes, tokens, grants, sessions: of no tenant before it is known whose they are.
create table oauth_artifacts (
  artifact_key text collate "C" not null primary key,
  payload text collate "C" not null,
  grant_id text collate "C",
  uid text collate "C",
  account_id uuid,
  client_id text collate "C",
  consumed_at bigint,
  expires_at bigint not null
);
create index oauth_artifacts_grant on oauth_artifacts (grant_id) where grant_id is not null;
create index oauth_artifacts_uid on oauth_artifacts (uid) where uid is not null;
create index oauth_artifacts_account on oauth_artifacts (account_id) where account_id is not null;
create index oauth_artifacts_end on oauth_artifacts (expires_at);

create table oauth_signing_keys (
  key_id text collate "C" not null primary key,
  sealed text collate "C" not null,
  created_at bigint not null,
  retired_at bigint
);
`,
}
