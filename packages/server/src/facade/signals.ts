// One AbortSignal per request: it fires when the client has gone, or when the server stops, so that held calls
// end early and a stop need not wait for them.
import type { FastifyInstance, FastifyReply } from 'fastify'

/** The signal of this request; call it once for each. */
export type Signals = (reply: FastifyReply) => AbortSignal

export function createSignals(app: FastifyInstance): Signals {
  const live = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const controller of live) controller.abort()
  })
  return ({ raw }) => {
    // Gone already, while it was looked up who called: nothing more will be heard of that.
    if (raw.closed) return AbortSignal.abort()
    const controller = new AbortController()
    live.add(controller)
    raw.once('close', () => {
      live.delete(controller)
      if (!raw.writableFinished) controller.abort()
    })
    return controller.signal
  }
}
