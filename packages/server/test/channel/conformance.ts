// What every result channel must do, whatever it is made of: one suite, without skips.
import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect, measure, verified } from '../../src/channel/content.ts'
import { type Channel, channelOf, type Measure, type Parcel, type Placed } from '../../src/channel/port.ts'
import { systemIds } from '../../src/ids.ts'

export interface Opened {
  readonly channel: Channel
  /** Where a channel that is told where is told to put it. */
  targetUrl?(name: string): string
  /** Changes what is kept at a pointer, behind the channel's back. */
  tamper(placed: Placed): Promise<Placed>
  close(): Promise<void>
}

const MIB = 1_048_576
/** What may be in memory at one time of a result of any size: a few parts and buffers. */
const MEMORY_BYTES_MAX = 96 * MIB
const NEVER = new AbortController().signal

export function channelConformance(
  name: string,
  open: () => Promise<Opened>,
  sizes: readonly number[],
): void {
  describe(`channel: ${name}`, () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const parcel = (source: AsyncIterable<Uint8Array>, more: Partial<Parcel> = {}): Parcel => {
      const resultId = systemIds.next()
      return {
        tenantId: 'acme',
        taskId: systemIds.next(),
        resultId,
        contentType: 'application/octet-stream',
        bytes: null,
        targetUrl: opened.targetUrl?.(resultId) ?? null,
        content: measure(source),
        ...more,
      }
    }

    async function put(source: AsyncIterable<Uint8Array>, more: Partial<Parcel> = {}) {
      const sent = parcel(source, more)
      const announced: string[] = []
      const pointer = await opened.channel.put(sent, async (to) => void announced.push(to))
      const { tenantId, taskId } = sent
      return { placed: { tenantId, taskId, pointer }, announced, measured: sent.content.measured() }
    }

    const get = (placed: Placed) => opened.channel.get(placed, NEVER)
    const mustBe = (expected: Measure) => (found: Measure) => {
      if (found.sha256 !== expected.sha256 || found.bytes !== expected.bytes)
        throw new Error('not what was put')
    }

    test.each(sizes)(
      '%i bytes come back as they were, through bounded memory',
      async (bytes) => {
        const peak = memoryPeak()
        const { placed, measured } = await put(randomBytes(bytes, peak.look))
        expect(measured.bytes).toBe(bytes)
        let back = 0
        for await (const chunk of verified(measure(await get(placed)), mustBe(measured))) {
          back += chunk.length
          peak.look()
        }
        expect(back).toBe(bytes)
        expect(peak.grown()).toBeLessThan(MEMORY_BYTES_MAX)
      },
      60_000,
    )

    test('a pointer is of its channel, and announced before anything stands there', async () => {
      const { placed, announced } = await put(bytesOf('hello'))
      expect(announced).toEqual([placed.pointer])
      expect(channelOf(placed.pointer)).toBe(opened.channel.name)
    })

    test('a parcel whose pointer could not be announced is not kept', async () => {
      const sent = parcel(bytesOf('nobody knows'))
      let pointer = ''
      const refusing = async (to: string) => {
        pointer = to
        throw new Error('the database is away')
      }
      await expect(opened.channel.put(sent, refusing)).rejects.toThrow('the database is away')
      if (opened.channel.name === 'inline') return // the pointer is the content
      await expect(get({ ...sent, pointer })).rejects.toMatchObject({ code: 'missing' })
    })

    test('a sender that goes away in the middle leaves nothing', async () => {
      const sent = parcel(breaking(), { bytes: null })
      let pointer: string | undefined
      await expect(opened.channel.put(sent, async (to) => void (pointer = to))).rejects.toThrow('gone')
      if (pointer !== undefined)
        await expect(get({ ...sent, pointer })).rejects.toMatchObject({ code: 'missing' })
    })

    test('a result that was changed behind its back is found out, and its end withheld', async () => {
      const { placed, measured } = await put(bytesOf('the whole truth'))
      const changed = await opened.tamper(placed)
      const back = collect(verified(measure(await get(changed)), mustBe(measured)), MIB)
      await expect(back).rejects.toThrow('not what was put')
    })

    test('what is acknowledged may go; acknowledging again is no error', async () => {
      const { placed } = await put(bytesOf('kept for a while'))
      await opened.channel.ack(placed)
      await opened.channel.ack(placed)
      const keepsNothing = ['inline', 'http'].includes(opened.channel.name)
      if (!keepsNothing) await expect(get(placed)).rejects.toMatchObject({ code: 'missing' })
    })

    test("another channel's pointer is refused", async () => {
      const { placed } = await put(bytesOf('mine'))
      const stray = { ...placed, pointer: `other:${placed.pointer}` }
      await expect(get(stray)).rejects.toMatchObject({ code: 'refused' })
    })

    test('it is ready, and says what it can do', async () => {
      await opened.channel.check()
      expect(Object.keys(opened.channel.capabilities()).toSorted()).toEqual([
        'human_readable',
        'max_size_bytes',
        'retention_days',
        'supports_attachments',
        'supports_streaming',
      ])
    })
  })
}

export async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(10_000)
  throw new Error('gone')
}

/** Bytes that nobody could have from anywhere else, a mebibyte at a time. */
async function* randomBytes(count: number, look: () => void): AsyncGenerator<Uint8Array> {
  const seed = createHash('sha512').update(String(count)).digest()
  for (let sent = 0; sent < count; sent += MIB) {
    const chunk = Buffer.alloc(Math.min(MIB, count - sent), seed)
    chunk.writeUInt8(Math.floor(sent / MIB) % 256, 0)
    yield chunk
    look()
  }
}

/** Of what is kept: when it looks like too much, what is only yet to be collected is collected first. */
function memoryPeak() {
  const inUse = () => process.memoryUsage().arrayBuffers
  collectGarbage()
  const before = inUse()
  let peak = before
  const look = () => {
    if (inUse() - before >= MEMORY_BYTES_MAX) collectGarbage()
    peak = Math.max(peak, inUse())
  }
  return { look, grown: () => peak - before }
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** The second time waits for what the first one has left to be swept. */
function collectGarbage(): void {
  gc()
  gc()
}
