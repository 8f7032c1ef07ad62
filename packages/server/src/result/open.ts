// Opens a located result for reading: verified as it is read, its end withheld if it is not what it should be.
import { Readable } from 'node:stream'
import { GateError } from '@asyncgate/sdk'
import { measure, verified } from '../channel/content.ts'
import { type Measure, shortened } from '../channel/port.ts'
import { isExpected, type Located } from './locate.ts'
import { type ResultParts, toGateError } from './parts.ts'

export interface OpenResult extends Located {
  /** Throws `checksum_mismatch` before the last of it. */
  readonly content: AsyncIterable<Buffer>
  /** Lets go of what it was read from, also where nobody has begun to. */
  close(): void
}

/** The first place that still has it; copies are for when the first has lost it. */
export async function openResult(
  located: Located,
  signal: AbortSignal,
  parts: ResultParts,
): Promise<OpenResult> {
  try {
    return await openAt(located, signal, parts)
  } catch (error) {
    for (const copy of await copiesOf(located, parts)) {
      const opened = await openAt(copy, signal, parts).catch(() => undefined) // the first error says more
      if (opened !== undefined) return opened
    }
    throw error
  }
}

async function openAt(located: Located, signal: AbortSignal, { channels }: ResultParts): Promise<OpenResult> {
  const channel = channels.find(located.channel)
  if (channel === undefined) throw notOurs(located)
  try {
    const source =
      located.held === undefined ? await channel.get(located, signal) : Readable.from([located.held])
    const content = spoken(checked(located, source, channels.bytesMax), channel.name)
    return { ...located, content, close: () => void (source instanceof Readable && source.destroy()) }
  } catch (error) {
    throw toGateError(error, channel.name)
  }
}

async function copiesOf(located: Located, { store }: ResultParts): Promise<readonly Located[]> {
  const { tenantId, taskId, expected } = located
  if (expected.sha256 === null || !located.isReachable) return []
  const archives = await store.listArchives(tenantId, taskId)
  return archives
    .filter(({ measure: measured }) => measured?.sha256 === expected.sha256)
    .map(({ pointer, channel, contentType }) => ({ ...located, pointer, channel, contentType }))
}

function checked(
  located: Located,
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Buffer, void, undefined> {
  return verified(measure(source, { bytesMax }), (found) => {
    if (!isExpected(located, found)) throw mismatch(located, found)
  })
}

/** A store may also break off in the middle. */
async function* spoken(content: AsyncIterable<Buffer>, channel: string) {
  try {
    yield* content
  } catch (error) {
    throw toGateError(error, channel)
  }
}

function mismatch({ pointer, expected }: Located, found: Measure): GateError {
  const message =
    `What is kept at ${shortened(pointer)} is not what was put there: its SHA-256 is ${found.sha256}, not ${expected.sha256}. ` +
    'Fetch a copy by its pointer, if archive_task_result has made one, or run the task again.'
  return new GateError('checksum_mismatch', message, {
    sha256: found.sha256,
    expected_sha256: expected.sha256,
  })
}

function notOurs({ pointer }: Located): GateError {
  const message = `${shortened(pointer)} is kept by a store that is not AsyncGate's. Fetch it there.`
  return new GateError('not_found', message, { pointer })
}
