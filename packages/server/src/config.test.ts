// The sources of the configuration, their order, and what they say when something is wrong.
import { describe, expect, test } from 'vitest'
import { camelCase } from './config/camel-case.ts'
import { valueOf } from './config/describe.ts'
import { type Key, KEYS } from './config/keys.ts'
import { ConfigError, configOf, loadConfig, type Sources, traceConfig } from './config.ts'

const nowhere = { env: {}, cwd: '/srv', readFile: () => undefined }
const withFile = (text: string) => ({ ...nowhere, readFile: () => text })

function problemsOf(sources: Sources): string[] {
  try {
    loadConfig(sources)
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ where, message }) => `${where}: ${message}`)
    throw error
  }
  return []
}

/** A value that every key accepts and that is not its default, with others where the first would contradict. */
const OTHER: Record<string, unknown> = {
  host: '0.0.0.0',
  instance_id: 'gate-1',
  environment: 'production',
  'database.url': 'postgres://gate:secret@db/gate',
  'database.migration_url': 'postgres://owner:secret@db/gate',
  'database.prepared_statements': false,
  'auth.mode': 'dev',
  'auth.api_key': 'a-key',
  'tls.cert_file': '/etc/gate/cert.pem',
  'tls.key_file': '/etc/gate/key.pem',
  'http.trusted_proxies': ['10.0.0.0/8', '::1'],
  'http.cors_origins': ['https://app.example.org', 'http://localhost:5173'],
  'limits.redis_url': 'redis://gate:secret@cache:6379',
  'oauth.issuer': 'https://gate.example.org',
  'oauth.secret': 'a-secret-of-thirty-two-characters',
  'oauth.upstream_issuer': 'https://login.example.org/realm',
  'oauth.upstream_client_id': 'asyncgate',
  'oauth.upstream_client_secret': 'a-secret',
  'lease.default_ttl_seconds': 120,
  'lease.min_ttl_seconds': 20,
  'lease.max_ttl_seconds': 900,
  'lease.sweep_interval_seconds': 0.5,
  'receipts.locatability': 'strict',
  'receipts.max_body_bytes': 8_192,
  'task.max_payload_bytes': 2_048,
  'list.default_limit': 20,
  'channels.default': 's3',
  'channels.max_bytes': 2_048,
  'channels.blob_path': '/srv/results',
  'channels.file_path': './results',
  'channels.s3_bucket': 'results',
  'channels.s3_endpoint': 'https://s3.example.org',
  'channels.s3_region': 'eu-central-1',
  'channels.s3_prefix': 'asyncgate/',
  'channels.s3_access_key_id': 'AKIA',
  'channels.s3_secret_access_key': 'secret',
  'channels.http': false,
  'mcp.tool_names': 'dotted',
  'mcp.allowed_hosts': ['gate.example.org', '10.0.0.7'],
  'log.level': 'debug',
  'log.format': 'json',
  'metrics.public': true,
}
const otherOf = (key: Key): unknown => OTHER[key.name] ?? 60 - (key.initial === 60 ? 1 : 0)
const asText = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))
const asYaml = (key: Key): string => {
  const [section, name] = key.name.split('.')
  const value = JSON.stringify(otherOf(key))
  return name === undefined ? `${section}: ${value}` : `${section}:\n  ${name}: ${value}`
}

describe.each(KEYS.map((key) => [key.name, key] as const))('%s', (name, key) => {
  test('has the default of the specification when no source names it', () => {
    const { config, origins } = traceConfig(nowhere)
    expect(valueOf(config, name)).toEqual(key.initial)
    expect(origins.get(name)).toEqual({ source: 'default', where: 'default' })
  })

  test.each<[string, Sources, string]>([
    ['the file', withFile(asYaml(key)), name.includes('.') ? 'asyncgate.yaml:2' : 'asyncgate.yaml:1'],
    ['the environment', { ...nowhere, env: { [key.variable]: asText(otherOf(key)) } }, key.variable],
    ['a flag', { ...nowhere, flags: { [key.flag]: asText(otherOf(key)) } }, `--${key.flag}`],
  ])('is set by %s', (_source, sources, where) => {
    const { config, origins } = traceConfig(sources)
    expect(valueOf(config, name)).toEqual(otherOf(key))
    expect(valueOf(config, name)).not.toEqual(key.initial)
    expect(origins.get(name)?.where).toBe(where)
  })

  test('refuses nonsense, naming the source and what would be right', () => {
    const [problem] = problemsOf({ ...nowhere, env: { [key.variable]: 'no such \u0000 thing,' } })
    expect(problem).toMatch(new RegExp(`^${key.variable}: ${name} can't be .* Give `, 's'))
  })
})

test('the variable and the flag of a key follow one rule, and no two keys share one', () => {
  const key = KEYS.find((candidate) => candidate.name === 'lease.sweep_interval_seconds')!
  expect(key.variable).toBe('ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS')
  expect(key.flag).toBe('lease-sweep-interval-seconds')
  expect(new Set(KEYS.map((each) => each.variable)).size).toBe(KEYS.length)
  expect(new Set(KEYS.map((each) => each.flag)).size).toBe(KEYS.length)
})

test('the defaults are those of the specification', () => {
  expect(loadConfig(nowhere)).toEqual({
    host: '127.0.0.1',
    port: 8420,
    processes: 1,
    instanceId: 'auto',
    environment: 'development',
    database: { url: 'sqlite:./asyncgate.db', migrationUrl: null, poolSize: 10, preparedStatements: true },
    auth: { mode: 'keys', apiKey: null },
    tls: { certFile: null, keyFile: null },
    http: { trustedProxies: [], corsOrigins: [] },
    limits: {
      globalCallsPerMinute: 0,
      principalCallsPerHour: 0,
      failedLoginsPerMinute: 100,
      signInRequestsPerMinute: 600,
      redisUrl: null,
    },
    oauth: {
      issuer: null,
      secret: null,
      accessTokenDays: 30,
      refreshTokenDays: 90,
      upstreamIssuer: null,
      upstreamClientId: null,
      upstreamClientSecret: null,
    },
    lease: {
      defaultTtlSeconds: 300,
      minTtlSeconds: 10,
      maxTtlSeconds: 1800,
      sweepIntervalSeconds: 10,
      graceSeconds: 0,
      requeueJitterSeconds: 5,
      maxRenewals: 0,
      maxLifetimeSeconds: 0,
    },
    retry: { maxAttempts: 3, backoffSeconds: 30, backoffCapSeconds: 900, maxExpiries: 20 },
    list: { defaultLimit: 50, maxLimit: 200 },
    task: { maxPayloadBytes: 1_048_576, maxActive: 0 },
    receipts: { maxBodyBytes: 65_536, maxParents: 10, maxArtifacts: 100, locatability: 'lenient' },
    channels: {
      default: 'blob',
      inlineMaxBytes: 32_768,
      maxBytes: 1_073_741_824,
      blobPath: null,
      filePath: null,
      s3Bucket: null,
      s3Endpoint: null,
      s3Region: 'us-east-1',
      s3Prefix: '',
      s3AccessKeyId: null,
      s3SecretAccessKey: null,
      http: true,
    },
    claim: { maxTasks: 1000, maxConcurrentLeases: 0, maxWaitSeconds: 60 },
    mcp: { toolNames: 'underscore', allowedHosts: [] },
    log: { level: 'info', format: 'auto' },
    metrics: { public: false },
  })
})

test('flags override the environment, which overrides the file, which overrides the preset', () => {
  const file = 'lease: { default_ttl_seconds: 200 }\nretry: { max_attempts: 4 }\nport: 1'
  const { config, origins } = traceConfig({
    ...withFile(file),
    env: { ASYNCGATE_RETRY_MAX_ATTEMPTS: '5', ASYNCGATE_PORT: '2' },
    flags: { preset: 'demo', port: '3' },
  })
  expect(config.port).toBe(3)
  expect(config.retry).toMatchObject({ maxAttempts: 5, backoffSeconds: 15 })
  expect(config.lease).toMatchObject({ defaultTtlSeconds: 200, sweepIntervalSeconds: 5 })
  expect(origins.get('retry.backoff_seconds')).toEqual({ source: 'preset', where: '--preset demo' })
})

test('the demo preset is lease 120, sweep 5, attempts 2, backoff 15', () => {
  const { lease, retry } = loadConfig({ ...nowhere, flags: { preset: 'demo' } })
  expect([
    lease.defaultTtlSeconds,
    lease.sweepIntervalSeconds,
    retry.maxAttempts,
    retry.backoffSeconds,
  ]).toEqual([120, 5, 2, 15])
})

test('--database is short for --database-url', () => {
  expect(loadConfig({ ...nowhere, flags: { database: 'memory:' } }).database.url).toBe('memory:')
})

test('--config names another file; asyncgate.yaml is read where it exists', () => {
  const paths: string[] = []
  const readFile = (path: string) => {
    paths.push(path)
    return 'port: 9'
  }
  expect(loadConfig({ env: {}, cwd: '/srv', readFile }).port).toBe(9)
  expect(loadConfig({ env: {}, cwd: '/srv', readFile, flags: { config: 'etc/gate.yaml' } }).port).toBe(9)
  expect(paths).toEqual(['/srv/asyncgate.yaml', '/srv/etc/gate.yaml'])
})

test.each<[string, Sources, string[]]>([
  [
    'an unknown key in the file, with the nearest name',
    withFile('lease:\n  sweep_intervall_seconds: 3'),
    [
      'asyncgate.yaml:2: There is no key lease.sweep_intervall_seconds. Did you mean lease.sweep_interval_seconds?',
    ],
  ],
  [
    'a key where a section belongs',
    withFile('lease: 3'),
    ['asyncgate.yaml:1: lease is a section: it must hold "key: value" lines.'],
  ],
  ['a file that is not YAML', withFile('port: 1\nport: 2'), ['asyncgate.yaml:2: Map keys must be unique.']],
  [
    'text where the file should have a number',
    withFile('port: "8420"'),
    ['asyncgate.yaml:1: port can\'t be "8420". Give a whole number from 0 to 65535.'],
  ],
  [
    'an unknown variable',
    { ...nowhere, env: { ASYNCGATE_DATABASE: 'memory:' } },
    ['ASYNCGATE_DATABASE: No key has this variable. Did you mean ASYNCGATE_DATABASE_URL?'],
  ],
  ['an unknown flag', { ...nowhere, flags: { 'lease-ttl': '3' } }, ['--lease-ttl: No key has this flag.']],
  [
    'an unknown preset',
    { ...nowhere, flags: { preset: 'dem' } },
    ['--preset: There is no preset "dem". Did you mean demo? Presets: demo.'],
  ],
  [
    'a missing file that was asked for',
    { ...nowhere, flags: { config: 'gate.yaml' } },
    ['--config: There is no file /srv/gate.yaml. Check the path, or leave --config out to use the defaults.'],
  ],
  [
    'a default TTL below the least',
    { ...nowhere, env: { ASYNCGATE_LEASE_DEFAULT_TTL_SECONDS: '5' } },
    [
      'ASYNCGATE_LEASE_DEFAULT_TTL_SECONDS: lease.min_ttl_seconds is 10 (default) and lease.default_ttl_seconds is 5 ' +
        '(ASYNCGATE_LEASE_DEFAULT_TTL_SECONDS). The first must not be more than the second: lower it or raise the other.',
    ],
  ],
  [
    'a default TTL above the most',
    withFile('lease: { max_ttl_seconds: 100 }'),
    [
      'asyncgate.yaml:1: lease.default_ttl_seconds is 300 (default) and lease.max_ttl_seconds is 100 (asyncgate.yaml:1). ' +
        'The first must not be more than the second: lower it or raise the other.',
    ],
  ],
])('says what is wrong with %s', (_what, sources, expected) => {
  expect(problemsOf(sources)).toEqual(expected)
})

test('all that is wrong is told at once', () => {
  const problems = problemsOf({ ...withFile('prt: 1'), env: { ASYNCGATE_PORT: 'x' }, flags: { host: 'a b' } })
  expect(problems).toHaveLength(3)
})

test('a refused secret is not repeated in the error', () => {
  const [problem] = problemsOf({ ...nowhere, env: { ASYNCGATE_AUTH_API_KEY: 'hush hush' } })
  expect(problem).not.toContain('hush')
})

test('variables of the client, of other programs and of a Kubernetes service are left alone', () => {
  const env = {
    PATH: '/bin',
    ASYNCGATE_URL: 'http://gate',
    ASYNCGATE_API_KEY: 'key',
    ASYNCGATE_PORT: 'tcp://10.0.0.7:8420',
    ASYNCGATE_PORT_8420_TCP_ADDR: '10.0.0.7',
    ASYNCGATE_SERVICE_HOST: '10.0.0.7',
    ASYNCGATE_SERVICE_PORT_HTTP: '8420',
  }
  expect(loadConfig({ ...nowhere, env })).toEqual(loadConfig(nowhere))
})

test('an empty variable clears what may be absent', () => {
  const config = loadConfig({ ...withFile('auth: { api_key: k }'), env: { ASYNCGATE_AUTH_API_KEY: '' } })
  expect(config.auth.apiKey).toBeNull()
})

test('the configuration is frozen, lists included', () => {
  const config = loadConfig({ ...nowhere, env: { ASYNCGATE_MCP_ALLOWED_HOSTS: 'a.example, b.example' } })
  expect(config.mcp.allowedHosts).toEqual(['a.example', 'b.example'])
  for (const part of [config, config.lease, config.mcp.allowedHosts]) expect(Object.isFrozen(part)).toBe(true)
})

test('configOf takes values from a program and checks them the same way', () => {
  expect(configOf({ port: 0, database: { url: 'memory:' } })).toMatchObject({
    port: 0,
    database: { url: 'memory:' },
  })
  expect(() => configOf({ port: -1 })).toThrow("port can't be -1")
})

test('snake_case becomes camelCase', () => {
  expect(camelCase('max_lifetime_seconds')).toBe('maxLifetimeSeconds')
})
