// Every setting of the server, once: its bounds, its default and what it is for. The variable names, the
// flags, the reference page and the Config type are all derived from this schema.
import { z } from 'zod'
import { channels } from './channels.ts'
import { choice, decimal, list, onOff, text, whole } from './field.ts'

/** Ten years, as in the contract: beyond it a length of time is a mistake. */
const SECONDS_MAX = 315_360_000
const MIB = 1_048_576

const DATABASE_URL = /^(sqlite:.+|memory:|postgres(ql)?:\/\/.+)$/
const databaseUrl = z.string().regex(DATABASE_URL)
const hostName = z.string().regex(/^[a-z0-9.:[\]*-]+$/i)

const server = {
  host: text(hostName.default('127.0.0.1'), {
    about: 'Address to listen on. Development mode accepts loopback addresses only.',
    expects: 'an IP address or a host name, without a port',
  }),
  port: whole('Port to listen on; 0 takes any free one.', { default: 8420, min: 0, max: 65_535 }),
  instance_id: text(
    z
      .string()
      .regex(/^[\w.:-]{1,100}$/)
      .default('auto'),
    {
      about: 'Name of this server among others on the same database; auto makes one at each start.',
      expects: 'auto, or up to 100 letters, digits, dots, colons, dashes and underscores',
    },
  ),
  environment: choice(
    'production refuses development mode.',
    ['development', 'production'] as const,
    'development',
  ),
}

const database = z.strictObject({
  url: text(databaseUrl.default('sqlite:./asyncgate.db'), {
    about: 'Where tasks and receipts are kept. memory: forgets everything when the server stops.',
    expects: 'sqlite:<path>, postgres://user:password@host:port/name or memory:',
    secret: 'password',
  }),
  migration_url: text(databaseUrl.nullable().default(null), {
    about: 'The same database under the role that owns the schema, where that is another role.',
    expects: 'a database URL as for database.url, or nothing',
    secret: 'password',
  }),
  pool_size: whole('PostgreSQL connections per server: half for writing, half for reading.', {
    default: 10,
    min: 2,
    max: 1_000,
  }),
  prepared_statements: onOff('Turn off behind a pooler that does not keep prepared statements.', true),
})

const auth = z.strictObject({
  mode: choice(
    'keys asks every caller for a key; dev asks nobody and listens on loopback only.',
    ['keys', 'dev'] as const,
    'keys',
  ),
  api_key: text(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,500}$/)
      .nullable()
      .default(null),
    {
      about: 'One shared key with all rights on the default tenant, sent as "Authorization: Bearer <key>".',
      expects: 'up to 500 visible ASCII characters without spaces',
      secret: 'whole',
    },
  ),
})

const lease = z.strictObject({
  default_ttl_seconds: whole('Length of a lease when the worker asks for none.', {
    default: 300,
    min: 1,
    max: SECONDS_MAX,
  }),
  min_ttl_seconds: whole('Shorter leases are lengthened to this.', { default: 10, min: 1, max: SECONDS_MAX }),
  max_ttl_seconds: whole('Longer leases are shortened to this.', {
    default: 1_800,
    min: 1,
    max: SECONDS_MAX,
  }),
  sweep_interval_seconds: decimal('Time between two searches for expired leases.', {
    default: 10,
    min: 0.01,
    max: 3_600,
  }),
  grace_seconds: decimal(
    'How long the sweep leaves an expired lease alone. The lease is dead all the same.',
    {
      default: 0,
      min: 0,
      max: 3_600,
    },
  ),
  requeue_jitter_seconds: decimal('Tasks of expired leases come back after a random wait up to this.', {
    default: 5,
    min: 0,
    max: 3_600,
  }),
  max_renewals: whole('Renewals allowed for one lease; 0 is unlimited.', {
    default: 0,
    min: 0,
    max: 1_000_000,
  }),
  max_lifetime_seconds: whole('Longest life of one lease with its renewals; 0 is unlimited.', {
    default: 0,
    min: 0,
    max: SECONDS_MAX,
  }),
})

const retry = z.strictObject({
  max_attempts: whole('Failures allowed before a task is failed for good.', {
    default: 3,
    min: 1,
    max: 1_000,
  }),
  backoff_seconds: whole('First wait after a failure; it doubles each time.', {
    default: 30,
    min: 0,
    max: SECONDS_MAX,
  }),
  backoff_cap_seconds: whole('Longest wait after a failure.', { default: 900, min: 0, max: SECONDS_MAX }),
  max_expiries: whole('Lost leases allowed before a task counts as poison; 0 is unlimited.', {
    default: 20,
    min: 0,
    max: 1_000_000,
  }),
})

const receipts = z.strictObject({
  max_body_bytes: whole('Largest body of a receipt, as compact JSON.', {
    default: 65_536,
    min: 4_096, // what the server itself records must always fit
    max: MIB,
  }),
  max_parents: whole('Most parents of one receipt.', { default: 10, min: 1, max: 1_000 }),
  max_artifacts: whole('Most artifacts of one receipt.', { default: 100, min: 1, max: 1_000 }),
  locatability: choice(
    'What becomes of a completion that says nowhere where its result is: strict refuses it, lenient ' +
      'takes it and leaves the obligation open.',
    ['lenient', 'strict'] as const,
    'lenient',
  ),
})

export const ConfigSchema = z.strictObject({
  ...server,
  database,
  auth,
  lease,
  retry,
  list: z.strictObject({
    default_limit: whole('Page size when none is asked for.', { default: 50, min: 1, max: 1_000 }),
    max_limit: whole('Largest page.', { default: 200, min: 1, max: 1_000 }),
  }),
  task: z.strictObject({
    max_payload_bytes: whole('Largest payload of a task, as compact JSON.', {
      default: MIB,
      min: 1_024,
      max: 64 * MIB,
    }),
  }),
  receipts,
  channels,
  // The contract's own bounds are the upper ones here: a server may offer less, never more.
  claim: z.strictObject({
    max_tasks: whole('Most tasks of one claim.', { default: 1_000, min: 1, max: 1_000 }),
    max_concurrent_leases: whole('Active leases of one tenant at one time; 0 is unlimited.', {
      default: 0,
      min: 0,
      max: 1_000_000_000,
    }),
    max_wait_seconds: whole('Longest that a claim or a read is held.', { default: 60, min: 0, max: 60 }),
  }),
  mcp: z.strictObject({
    tool_names: choice(
      'Tools are advertised as asyncgate_create_task or as asyncgate.create_task.',
      ['underscore', 'dotted'] as const,
      'underscore',
    ),
    allowed_hosts: list(
      'Host names, besides the address listened on, under which browsers and MCP clients may call.',
      hostName,
      'host names, e.g. gate.example.org',
    ),
  }),
  log: z.strictObject({
    level: choice(
      'Least important lines that are written.',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const,
      'info',
    ),
    format: choice(
      'json for machines, pretty for people, auto is pretty on a terminal.',
      ['auto', 'json', 'pretty'] as const,
      'auto',
    ),
  }),
  metrics: z.strictObject({
    public: onOff('Serve /metrics to callers without a key.', false),
  }),
})
