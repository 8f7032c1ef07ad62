// Checks that need no database: Node itself, who may call, and the address to listen on.
import { createServer } from 'node:net'
import { type Config, isGuessable, unsafeToServe } from '../../config.ts'
import { fail, type Finding, ok, reasonOf, skipped, warn } from './finding.ts'

/** The first with Argon2. */
const NODE_MIN = '24.7.0'
const HEALTH_TIMEOUT_MS = 2_000

export function checkNode(version: string): Finding {
  const isOld = version.localeCompare(NODE_MIN, 'en', { numeric: true }) < 0
  return isOld
    ? fail(`Node ${version} is too old.`, `Install Node ${NODE_MIN} or later.`)
    : ok(`Node ${version}`)
}

export function checkAccess(config: Config): Finding {
  const [problem] = unsafeToServe(config)
  if (problem) {
    // On one's own machine that is how one begins; elsewhere the server is needed.
    const judge = config.environment === 'production' ? fail : warn
    return judge(`"asyncgate serve" would refuse to start (${problem.where}).`, problem.message)
  }
  if (config.auth.mode === 'dev') {
    return warn('Development mode asks nobody for a key.', 'For others than yourself use auth.mode keys.')
  }
  if (config.oauth.secret !== null && isGuessable(config.oauth.secret)) {
    return warn(
      'oauth.secret can be guessed; production refuses it.',
      'Take a random one: openssl rand -hex 32',
    )
  }
  if (config.auth.apiKey === null) return ok('callers need an API key')
  if (isGuessable(config.auth.apiKey)) {
    return warn(
      'auth.api_key can be guessed; production refuses it.',
      'Take a random one: openssl rand -hex 24',
    )
  }
  return ok('callers need an API key or the shared key')
}

/** Either nobody listens there yet, or it is an AsyncGate that is well. */
export async function checkAddress({ host, port, tls }: Config): Promise<Finding> {
  if (port === 0) return ok('any free port')
  const refusal = await tryToListen(host, port)
  if (refusal === undefined) return ok(`${host}:${port} is free`)
  if (refusal.code !== 'EADDRINUSE') {
    return fail(
      `Can't listen on ${host}:${port}: ${reasonOf(refusal)}`,
      'Choose another with --host and --port.',
    )
  }
  // A certificate is for the names that people call the server by, and this address is none of them.
  if (tls.certFile !== null) return skipped(`${host}:${port} is in use`)
  return checkServerThere(`http://${urlHost(host)}:${port}`)
}

async function checkServerThere(url: string): Promise<Finding> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    const body = (await response.json()) as { status?: unknown; error?: unknown }
    if (body.status === 'ready') return ok(`a server answers at ${url} and is ready`)
    if (body.error === 'database_unavailable') {
      return fail(`The server at ${url} has no database.`, 'See the checks of the database, and its log.')
    }
  } catch {
    // Not JSON, no answer in time: whatever it is, it is not ours.
  }
  return fail(`${url} is taken by another program.`, 'Stop that, or choose another port with --port.')
}

/** The address to call where the server listens on all of them. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
