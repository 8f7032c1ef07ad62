// echo: the payload is the result. The smallest task there is, for a first try and for probes.
import type { Handler } from '@asyncgate/sdk'

export const echo: Handler<unknown> = (payload) => payload
