// Rules that concern several settings at once: what contradicts itself, and what is not safe to serve with.
import { BlockList, isIP } from 'node:net'
import type { Config } from '../config.ts'
import { ConfigError, type Problem } from './problem.ts'
import type { Origin } from './setting.ts'

type Origins = ReadonlyMap<string, Origin>

export function contradictions(config: Config, origins: Origins): Problem[] {
  const { lease, list } = config
  const ordered = [
    ['lease.min_ttl_seconds', lease.minTtlSeconds, 'lease.default_ttl_seconds', lease.defaultTtlSeconds],
    ['lease.default_ttl_seconds', lease.defaultTtlSeconds, 'lease.max_ttl_seconds', lease.maxTtlSeconds],
    ['list.default_limit', list.defaultLimit, 'list.max_limit', list.maxLimit],
  ] as const
  return ordered.flatMap(([low, lowValue, high, highValue]) => {
    if (lowValue <= highValue) return []
    const [lowWhere, highWhere] = [origins.get(low)?.where, origins.get(high)?.where]
    const where = lowWhere === 'default' ? highWhere : lowWhere
    const message =
      `${low} is ${lowValue} (${lowWhere}) and ${high} is ${highValue} (${highWhere}). ` +
      'The first must not be more than the second: lower it or raise the other.'
    return [{ where: where ?? low, message }]
  })
}

/** Refuses to serve without credentials where others could reach the server (AUTH-4). */
export function requireServable(config: Config): void {
  const problems = unsafeToServe(config)
  if (problems.length > 0) throw new ConfigError(problems)
}

export function unsafeToServe(config: Config): Problem[] {
  const { auth, database, environment, host, processes, tls } = config
  const problems: Problem[] = oauthProblems(config)
  if (processes > 1 && !database.url.startsWith('postgres')) {
    const message = `${processes} processes can share PostgreSQL only: this database has one writer.`
    problems.push({
      where: 'processes',
      message: `${message} Set processes to 1, or --database postgres://…`,
    })
  }
  if (auth.mode === 'dev' && environment === 'production') {
    const message = 'Development mode asks for no credentials and refuses to run in production.'
    problems.push({ where: 'auth.mode', message: `${message} Run ${USE_KEYS}` })
  }
  if (auth.mode === 'dev' && !isLoopback(host)) {
    const message = `Development mode asks for no credentials and listens on loopback only, not on ${host}.`
    problems.push({ where: 'host', message: `${message} Use host 127.0.0.1, or run ${USE_KEYS}` })
  }
  if ((tls.certFile === null) !== (tls.keyFile === null)) {
    const message = 'tls.cert_file and tls.key_file go together. Give both, or neither.'
    problems.push({ where: 'tls', message })
  }
  if (environment === 'production' && auth.apiKey !== null && isGuessable(auth.apiKey)) {
    const message =
      'The shared key is short or well known, and production refuses it. Take a random one: openssl rand -hex 24'
    problems.push({ where: 'auth.api_key', message })
  }
  return problems
}

function oauthProblems({ oauth, auth, environment }: Config): Problem[] {
  const { issuer } = oauth
  if (issuer === null) return []
  const { protocol, hostname } = new URL(issuer)
  const problems: Problem[] = []
  if (protocol === 'http:' && (environment === 'production' || !isLoopback(hostname))) {
    const message = 'Passwords and tokens must not travel in the clear. Use https; in production always.'
    problems.push({ where: 'oauth.issuer', message })
  }
  if (oauth.secret === null) {
    const message = 'It is needed where oauth.issuer is set. Take a random one: openssl rand -hex 32'
    problems.push({ where: 'oauth.secret', message })
  }
  if (environment === 'production' && oauth.secret !== null && isGuessable(oauth.secret)) {
    const message =
      'It can be guessed, and production refuses it: who has it and the database can sign tokens. Take a random one: openssl rand -hex 32'
    problems.push({ where: 'oauth.secret', message })
  }
  if (oauth.upstreamIssuer !== null && oauth.upstreamClientId === null) {
    const message = 'It is needed where oauth.upstream_issuer is set.'
    problems.push({ where: 'oauth.upstream_client_id', message })
  }
  if (auth.mode === 'dev') {
    const message = `Development mode asks nobody who they are, so that signing in means nothing. Run ${USE_KEYS}`
    problems.push({ where: 'oauth.issuer', message })
  }
  return problems
}

/** As long as a key of 96 random bits in hexadecimal. */
const KEY_LENGTH_MIN = 24
/** Words of examples and of those who mean to change them later. */
const PLACEHOLDER = /change.?me|secret|password|example|placeholder|default|your.?key/i
/** Fewer different characters than any random key of that length has. */
const DISTINCT_MIN = 8

export function isGuessable(key: string): boolean {
  return key.length < KEY_LENGTH_MIN || new Set(key).size < DISTINCT_MIN || PLACEHOLDER.test(key)
}

/** Where no shared key is set, the database must hold one. */
export function requireKey(found: boolean): void {
  if (found) return
  const message =
    'There is no key, so nobody could call. Make one with "asyncgate keys create --role admin --principal human/<you>" ' +
    'on this database, set ASYNCGATE_AUTH_API_KEY (for example to the output of: openssl rand -hex 24), ' +
    'or run "asyncgate dev" on your own machine.'
  throw new ConfigError([{ where: 'auth.api_key', message }])
}

const USE_KEYS = '"asyncgate serve" with auth.mode keys and ASYNCGATE_AUTH_API_KEY set.'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Names other than localhost are refused: what they resolve to can change. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (address.toLowerCase() === 'localhost') return true
  const version = isIP(address)
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4')
}
