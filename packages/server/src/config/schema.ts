// Every setting of the server, once: its bounds, its default and what it is for. The variable names, the
// flags, the reference page and the Config type are all derived from this schema.
import { z } from 'zod'
import { channels } from './channels.ts'
import { choice, decimal, list, onOff, text, whole } from './field.ts'

/** Ten years, as in the contract: beyond it a length of time is a mistake. */
const SECONDS_MAX = 315_360_000
const MIB = 1_048_576
const COUNT_MAX = 1_000_000_000

const DATABASE_URL = /^(sqlite:.+|memory:|postgres(ql)?:\/\/.+)$/
const databaseUrl = z.string().regex(DATABASE_URL)
/** Control characters are in no path that anybody means. */
const filePath = z.string().regex(/^[^\p{Cc}]+$/u)
const hostName = z.string().regex(/^[a-z0-9.:[\]*-]+$/i)

const server = {
  host: text(hostName.default('127.0.0.1'), {
    about: 'Address to listen on. Development mode accepts loopback addresses only.',
    expects: 'an IP address or a host name, without a port',
  }),
  port: whole('Port to listen on; 0 takes any free one.', { default: 8420, min: 0, max: 65_535 }),
  processes: whole('Server processes that share the port, for more than one core; on PostgreSQL only.', {
    default: 1,
    min: 1,
    max: 64,
  }),
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
    about:
      'PostgreSQL: the same database under the role that owns the schema, where that is another role. It migrates.',
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

const tls = z.strictObject({
  cert_file: text(filePath.nullable().default(null), {
    about:
      'Certificate with its chain, in PEM, to serve HTTPS without a proxy. Read again when it changes, and on SIGHUP.',
    expects: 'the path of a file',
  }),
  key_file: text(filePath.nullable().default(null), {
    about: "The certificate's private key, in PEM.",
    expects: 'the path of a file',
  }),
})

const http = z.strictObject({
  trusted_proxies: list(
    'Proxies of yours, whose X-Forwarded-For and X-Forwarded-Proto are believed. Of everybody else they are not.',
    z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]),
    'IP addresses and networks, e.g. 10.0.0.0/8',
  ),
  cors_origins: list(
    'Origins whose web pages may call from a browser, with a key of their own. None by default.',
    z.string().regex(/^https?:\/\/[a-z0-9.:[\]-]+$/),
    'origins as browsers send them, e.g. https://app.example.org',
  ),
})

const limits = z.strictObject({
  global_calls_per_minute: whole('Calls of all tenants together; 0 is unlimited.', {
    default: 0,
    min: 0,
    max: COUNT_MAX,
  }),
  principal_calls_per_hour: whole('Calls of any one principal; 0 is unlimited.', {
    default: 0,
    min: 0,
    max: COUNT_MAX,
  }),
  failed_logins_per_minute: whole(
    'Wrong credentials from one address before it is slowed down; 0 is unlimited.',
    {
      default: 100,
      min: 0,
      max: COUNT_MAX,
    },
  ),
  sign_in_requests_per_minute: whole(
    'Requests to /oauth from one address, pages and tokens together; 0 is unlimited.',
    {
      default: 600,
      min: 0,
      max: COUNT_MAX,
    },
  ),
  redis_url: text(
    z
      .string()
      .regex(/^rediss?:\/\/.+$/)
      .nullable()
      .default(null),
    {
      about:
        'Where servers share their rate limits, instead of PostgreSQL. Needs the package @redis/client beside asyncgate.',
      expects: 'redis://user:password@host:port or rediss://…',
      secret: 'password',
    },
  ),
})

const webOrigin = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@]+$/i)
  .refine((given) => URL.parse(given)?.origin === given)
const webAddress = z
  .string()
  .regex(/^https?:\/\/[^\s?#@]+$/i)
  .refine((given) => URL.canParse(given))
const visible = (min: number, max: number) => z.string().regex(new RegExp(`^[\\x21-\\x7e]{${min},${max}}$`))

const oauth = z.strictObject({
  issuer: text(webOrigin.nullable().default(null), {
    about: 'Turns signing in on (OAuth 2.1): the address by which people and clients reach this server.',
    expects: 'an address without a path, e.g. https://gate.example.org; http on loopback only',
  }),
  secret: text(visible(32, 500).nullable().default(null), {
    about:
      'Seals the signing keys in the database and signs cookies. The same on every server of a database.',
    expects: 'at least 32 visible ASCII characters without spaces, e.g. the output of: openssl rand -hex 32',
    secret: 'whole',
  }),
  access_token_days: whole('Life of an access token. It ends sooner with its grant, account or tenant.', {
    default: 30,
    min: 5,
    max: 90,
  }),
  refresh_token_days: whole('How long a client can get new tokens before its person signs in again.', {
    default: 90,
    min: 1,
    max: 365,
  }),
  upstream_issuer: text(webAddress.nullable().default(null), {
    about: 'An OpenID provider where people may sign in instead of with a password.',
    expects: 'its issuer, e.g. https://login.example.org',
  }),
  upstream_client_id: text(visible(1, 500).nullable().default(null), {
    about: 'What this server is called there; its redirect address is <oauth.issuer>/oauth/callback.',
    expects: 'the client id',
  }),
  upstream_client_secret: text(visible(1, 500).nullable().default(null), {
    about: 'The secret of that client, if it has one.',
    expects: 'the client secret',
    secret: 'whole',
  }),
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
  tls,
  http,
  limits,
  oauth,
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
    max_active: whole('Tasks of one tenant that have not ended; 0 is unlimited.', {
      default: 0,
      min: 0,
      max: COUNT_MAX,
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
      max: COUNT_MAX,
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
