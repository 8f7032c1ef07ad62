// Every setting of the server, once: its bounds, its default and what it is for. The variable names, the
// flags, the reference page and the Config type are all derived from this schema.
import { z } from 'zod'

/** Ten years, as in the contract: beyond it a length of time is a mistake. */
const SECONDS_MAX = 315_360_000
const MIB = 1_048_576

export type Kind = 'whole' | 'number' | 'choice' | 'switch' | 'list' | 'text'

/** What the errors, `asyncgate config` and the reference page say of a key. */
export interface About {
  readonly about: string
  /** Completes the sentence "Give …". */
  readonly expects: string
  readonly kind: Kind
  readonly secret?: 'whole' | 'password'
}

const abouts = z.registry<About>()

export function aboutOf(schema: z.ZodType): About | undefined {
  return abouts.get(schema)
}

function described<S extends z.ZodType>(schema: S, about: About): S {
  abouts.add(schema, about)
  return schema
}

type Range = { default: number; min: number; max: number }

function whole(about: string, { default: initial, min, max }: Range) {
  const expects = `a whole number from ${min} to ${max}`
  return described(z.int().min(min).max(max).default(initial), { about, expects, kind: 'whole' })
}

function decimal(about: string, { default: initial, min, max }: Range) {
  const expects = `a number from ${min} to ${max}`
  return described(z.number().min(min).max(max).default(initial), { about, expects, kind: 'number' })
}

function choice<const C extends readonly [string, ...string[]]>(
  about: string,
  choices: C,
  initial: C[number],
) {
  const expects = `one of ${choices.join(', ')}`
  // zod wants the default as its own output type; `initial` is one of the choices by its type.
  const schema = z.enum(choices).default(initial as never)
  return described(schema as z.ZodDefault<z.ZodType<C[number], C[number]>>, {
    about,
    expects,
    kind: 'choice',
  })
}

function onOff(about: string, initial: boolean) {
  return described(z.boolean().default(initial), { about, expects: 'true or false', kind: 'switch' })
}

function list(about: string, item: z.ZodType<string, string>, expects: string) {
  return described(z.array(item).default([]), { about, expects, kind: 'list' })
}

function text<S extends z.ZodType>(schema: S, about: Omit<About, 'kind'>) {
  return described(schema, { ...about, kind: 'text' })
}

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

const optionalPath = z
  .string()
  .regex(/^\P{Cc}{1,4096}$/u)
  .nullable()
  .default(null)
const optionalSecret = z
  .string()
  .regex(/^[\x21-\x7e]{1,500}$/)
  .nullable()
  .default(null)
const FOLDER = 'a path, or nothing'

const channels = z.strictObject({
  default: choice(
    'Where results go that are too large to be inline, unless the worker or the task names another channel.',
    ['blob', 'file', 's3'] as const,
    'blob',
  ),
  inline_max_bytes: whole('Results up to this size travel with their task.', {
    default: 32_768,
    min: 0,
    max: 40_960, // as a pointer in a receipt it must leave room for the rest
  }),
  max_bytes: whole('Largest result that is taken, in whichever channel.', {
    default: 1_024 * MIB,
    min: 1_024,
    max: 65_536 * MIB,
  }),
  blob_path: text(optionalPath, {
    about:
      'Folder of the channel blob. By default it stands beside an SQLite database, under its name with "-results"; on ' +
      'PostgreSQL give a folder that all servers share, or use s3.',
    expects: FOLDER,
  }),
  file_path: text(optionalPath, {
    about: 'Folder of the channel file, whose files have names for people. All servers must share it.',
    expects: FOLDER,
  }),
  s3_bucket: text(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .nullable()
      .default(null),
    {
      about: 'Bucket of the channel s3. Needs the package @aws-sdk/client-s3 installed beside asyncgate.',
      expects: 'the name of a bucket, or nothing',
    },
  ),
  s3_endpoint: text(
    z
      .string()
      .regex(/^https?:\/\/[^\s]+$/)
      .nullable()
      .default(null),
    {
      about: "Address of an S3-compatible store; default Amazon's own.",
      expects: 'an http or https URL, or nothing',
    },
  ),
  s3_region: text(
    z
      .string()
      .regex(/^[a-z0-9-]{1,50}$/)
      .default('us-east-1'),
    {
      about: 'Region of the bucket; many compatible stores take any.',
      expects: 'a region, e.g. eu-central-1',
    },
  ),
  s3_prefix: text(
    z
      .string()
      .regex(/^([\w.-]+\/)*$/)
      .max(200)
      .default(''),
    { about: 'Before every key in the bucket.', expects: 'names that each end in a slash, e.g. asyncgate/' },
  ),
  s3_access_key_id: text(optionalSecret, {
    about:
      "Credentials of the store; default what the library finds (AWS_… variables, a profile, the machine's role).",
    expects: 'an access key id, or nothing',
  }),
  s3_secret_access_key: text(optionalSecret, {
    about: 'The secret of s3_access_key_id.',
    expects: 'a secret access key, or nothing',
    secret: 'whole',
  }),
  http: onOff('Results may be PUT to and fetched from public URLs that workers name.', true),
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
