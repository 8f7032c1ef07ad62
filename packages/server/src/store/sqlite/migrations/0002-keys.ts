// API keys: what a key is bound to, and the hash of its secret. Scopes are words with spaces between them.
export const keys = {
  name: '0002_keys',
  sql: `
create table api_keys (
  tenant_id text not null,
  key_id text not null,
  prefix text not null,
  secret_hash text not null,
  name text,
  principal_kind text not null,
  principal_id text not null,
  role text not null,
  scopes text not null,
  created_at integer not null,
  created_by_kind text not null,
  created_by_id text not null,
  expires_at integer,
  revoked_at integer,
  primary key (tenant_id, key_id)
) without rowid;
-- The one lookup before the tenant is known.
create unique index api_keys_prefix on api_keys (prefix);
`,
}
