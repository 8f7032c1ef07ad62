// Checks of what a server shows to others: who can listen in, who can come near, and what they find without a key.
import type { Config } from '../../config.ts'
import { ConfigError, isLoopback } from '../../config.ts'
import { expiresAt, readTls } from '../../facade/tls.ts'
import { type Link, postgresLink } from '../../store/postgres/link.ts'
import { fail, type Finding, ok, warn } from './finding.ts'

const DAY_MS = 86_400_000
/** Time enough to renew one. */
const CERTIFICATE_DAYS_LEFT = 14

export type ExposureCheck = (config: Config, now: number) => Finding

/** In this order. */
export const EXPOSURE_CHECKS: Readonly<Record<string, ExposureCheck>> = {
  environment: checkEnvironment,
  transport: checkTransport,
  browsers: checkBrowsers,
  metrics: checkMetrics,
  links: checkLinks,
}

function checkEnvironment({ environment, host }: Config): Finding {
  if (environment === 'production') return ok('production')
  if (isLoopback(host)) return ok('development, on loopback')
  return warn(
    `environment is development, but ${host} can be reached by others.`,
    'Set environment: production, which refuses weak keys and development mode.',
  )
}

function checkTransport(config: Config, now: number): Finding {
  const { host, tls, http } = config
  if (tls.certFile !== null || tls.keyFile !== null) return checkCertificate(config, now)
  if (isLoopback(host)) return ok('loopback, without TLS')
  if (http.trustedProxies.length > 0)
    return ok(`TLS is left to the proxies ${http.trustedProxies.join(', ')}`)
  return warn(
    `Keys travel to ${host} in the clear.`,
    'Set tls.cert_file and tls.key_file, or listen on loopback behind a proxy with TLS and name it in http.trusted_proxies.',
  )
}

function checkCertificate({ tls }: Config, now: number): Finding {
  try {
    const files = readTls(tls)
    if (files === null)
      return fail('One of tls.cert_file and tls.key_file is missing.', 'Give both, or neither.')
    const days = Math.floor((expiresAt(files) - now) / DAY_MS)
    if (days < 0)
      return fail('The certificate has expired.', 'Renew it; the server reads it again by itself.')
    if (days >= CERTIFICATE_DAYS_LEFT) return ok(`TLS; the certificate is valid for ${days} more days`)
    return warn(`The certificate expires in ${days} days.`, 'Renew it; the server reads it again by itself.')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(
      error.problems[0]!.message,
      'Give a certificate in PEM and its own key, readable by the server.',
    )
  }
}

function checkBrowsers({ http }: Config): Finding {
  const [open] = http.corsOrigins.filter((origin) => origin.startsWith('http:') && !isLocal(origin))
  if (open === undefined) {
    return ok(
      http.corsOrigins.length === 0 ? 'no pages of other origins may call' : http.corsOrigins.join(', '),
    )
  }
  return warn(
    `http.cors_origins trusts ${open}, which anybody on the way can change.`,
    'Serve that page by HTTPS and name it so.',
  )
}

function isLocal(origin: string): boolean {
  const name = URL.parse(origin)?.hostname
  return name !== undefined && isLoopback(name)
}

function checkMetrics({ metrics, host }: Config): Finding {
  if (!metrics.public || isLoopback(host))
    return ok(metrics.public ? 'public, on loopback' : 'for administrators')
  return warn(
    'Anybody who reaches the server can read /metrics.',
    'Set metrics.public to false, or keep others from the path.',
  )
}

/** Passwords that come with the software. */
const WELL_KNOWN = new Set(['postgres', 'password', 'asyncgate', 'admin', 'changeme', 'secret', 'redis'])

function checkLinks({ database, limits }: Config): Finding {
  const urls = [database.url, database.migrationUrl, limits.redisUrl].filter((url) => url !== null)
  const links = urls.flatMap(linkOf)
  const weak = links.find(({ password }) => WELL_KNOWN.has(password.toLowerCase()))
  if (weak) return warn(`The password for ${weak.host} is well known.`, 'Give it a random one.')
  const open = links.find(({ host, isEncrypted }) => !isEncrypted && !isOnThisMachine(host))
  if (open === undefined) return ok(links.length === 0 ? 'none' : 'encrypted, or on this machine')
  return warn(
    `The connection to ${open.host} is not encrypted.`,
    'Add sslmode=verify-full to a PostgreSQL URL, or use rediss://, unless the network between is yours alone.',
  )
}

/** What cannot be read leads nowhere, and is said by who connects. */
function linkOf(url: string): Link[] {
  try {
    if (url.startsWith('postgres')) return [postgresLink(url)]
    return url.startsWith('redis') ? [redisLink(url)] : []
  } catch {
    return []
  }
}

function redisLink(url: string): Link {
  const { hostname, password, protocol } = new URL(url)
  return { host: hostname, password: decodeURIComponent(password), isEncrypted: protocol === 'rediss:' }
}

/** Through loopback, or a socket in a folder. */
function isOnThisMachine(host: string): boolean {
  return isLoopback(host) || host.startsWith('/')
}
