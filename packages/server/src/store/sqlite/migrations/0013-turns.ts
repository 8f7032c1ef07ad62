// Which ready tasks became so when they were created: PostgreSQL keeps them apart, and the statements are shared. Here a claim
// steps over nothing that was taken, so that there is no index of it.
export const turns = {
  name: '0013_turns',
  sql: 'alter table queued add column out_of_turn integer not null default 1',
}
