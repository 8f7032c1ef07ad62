// API keys: what a key is bound to, and the hash of its secret. Scopes are words with spaces between them.
export const keys = {
  name: '0002_keys',
  sql: `
create table api_keys (
  tenant_id text collate "C" not null,
  key_id uuid not null,
  prefix text collate "C" not null,
  secret_hash text collate "C" not null,
  name text collate "C",
  principal_kind text collate "C" not null,
  principal_id text collate "C" not null,
  role text collate "C" not null,
  scopes text collate "C" not null,
  created_at bigint not null,
  created_by_kind text collate "C" not null,
  created_by_id text collate "C" not null,
  expires_at bigint,
  revoked_at bigint,
  primary key (tenant_id, key_id)
);
-- The one lookup before the tenant is known.
create unique index api_keys_prefix on api_keys (prefix);
`,
}
