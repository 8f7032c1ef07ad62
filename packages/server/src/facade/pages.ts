// Routes about the server itself: health, metrics, the API's description, and where to start.
import { GateError, type Scope } from '@asyncgate/sdk'
import type { FastifyInstance } from 'fastify'
import { isAdmin } from '../auth/caller.ts'
import type { CallLog } from './dispatch.ts'
import type { Identify } from './identify.ts'
import { docsPage, landingPage } from './docs-page.ts'
import { openApi } from './openapi.ts'

/** How the server is doing, asked of those who know. */
export interface Vitals {
  readonly health: () => Promise<object>
  /** Whether the database answers. */
  readonly ready: () => Promise<boolean>
  /** In Prometheus' text format. */
  readonly metrics: () => Promise<string>
  readonly metricsPublic: boolean
}

interface PageParts extends Vitals {
  readonly identify: Identify
  readonly version: string
  readonly log: CallLog
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** The pages are our own text without scripts; nothing may be loaded or framed. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}
const METRICS_SCOPE: Scope = 'admin:read'

export function mountPages(app: FastifyInstance, parts: PageParts): void {
  mountHealth(app, parts)
  mountMetrics(app, parts)
  const document = openApi({ version: parts.version })
  app.get('/openapi.json', async () => document)
  const docs = docsPage({ version: parts.version })
  app.get('/docs', async (_request, reply) => reply.headers(PAGE_HEADERS).send(docs))
  const landing = landingPage({ version: parts.version })
  const links = {
    name: 'asyncgate',
    version: parts.version,
    docs: '/docs',
    openapi: '/openapi.json',
    health: '/health',
    mcp: '/mcp',
  }
  app.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept')
    if (!headers.accept?.includes('text/html')) return links
    return reply.headers(PAGE_HEADERS).send(landing)
  })
}

function mountHealth(app: FastifyInstance, { health, ready, log }: PageParts): void {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health', async (request) => {
    try {
      return await health()
    } catch (error) {
      // The process lives, which is what this route is asked for; what it could not learn is said, not hidden.
      log.error({ request_id: request.id, error }, 'health is not known')
      return { status: 'degraded' }
    }
  })
  app.get('/health/ready', async () => {
    if (await ready()) return { status: 'ready' }
    throw new GateError(
      'database_unavailable',
      'The database does not answer. Wait, the server reconnects by itself.',
    )
  })
}

function mountMetrics(app: FastifyInstance, { metrics, metricsPublic, identify }: PageParts): void {
  app.get('/metrics', async (request, reply) => {
    if (!metricsPublic) {
      const caller = await identify(request)
      if (!isAdmin(caller)) {
        const message = `This needs the scope ${METRICS_SCOPE}. Use an admin key.`
        throw new GateError('forbidden', message, { required_scope: METRICS_SCOPE, your_role: caller.role })
      }
    }
    return reply.header('content-type', METRICS_TYPE).send(await metrics())
  })
}
