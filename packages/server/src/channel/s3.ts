// s3: any store that speaks S3. Small results are one object at once; larger ones go up in parts, so that no more than one
// part of a result is ever in memory.
import type * as S3 from '@aws-sdk/client-s3'
import { collect, peek } from './content.ts'
import { type Channel, ChannelError, dataOf, KEEPS_ANYTHING, type Parcel, type Placed } from './port.ts'

export interface S3Settings {
  readonly bucket: string
  /** Null: Amazon's own. */
  readonly endpoint: string | null
  readonly region: string
  /** Before every key, e.g. `asyncgate/`. */
  readonly prefix: string
  /** Null: wherever the library finds some (environment, profile, role of the machine). */
  readonly accessKeyId: string | null
  readonly secretAccessKey: string | null
}

/** S3 takes no smaller parts than 5 MiB and at most 10,000 of them: this allows results of 78 GiB. */
const PART_BYTES = 8 * 1_048_576

export function createS3Channel(settings: S3Settings): Channel {
  const { bucket, prefix } = settings
  let opened: Promise<Store> | undefined
  const store = () => (opened ??= openStore(settings))

  function keyOf({ tenantId, taskId, pointer }: Placed): string {
    const key = dataOf('s3', pointer).slice(bucket.length + 1)
    if (pointer.startsWith(`s3:${bucket}/${prefix}${tenantId}/${taskId}/`)) return key
    throw new ChannelError('refused', 'The pointer leads out of the place of its task.')
  }

  return {
    name: 's3',
    async put(parcel, announce) {
      const key = `${prefix}${parcel.tenantId}/${parcel.taskId}/${parcel.resultId}`
      const pointer = `s3:${bucket}/${key}`
      await announce(pointer)
      await (await store()).upload(key, parcel)
      return pointer
    },
    get: async (placed, signal) => (await store()).download(keyOf(placed), signal),
    ack: async (placed) => (await store()).remove(keyOf(placed)),
    capabilities: () => KEEPS_ANYTHING,
    check: async () => (await store()).check(),
  }
}

interface Store {
  upload(key: string, parcel: Parcel): Promise<void>
  download(key: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  remove(key: string): Promise<void>
  check(): Promise<void>
}

async function openStore({ bucket: Bucket, ...settings }: S3Settings): Promise<Store> {
  const library = await loadS3Library()
  const client = new library.S3Client(clientSettings(settings))

  async function uploadParts(Key: string, content: AsyncIterable<Uint8Array>, ContentType: string) {
    const { UploadId } = await client.send(
      new library.CreateMultipartUploadCommand({ Bucket, Key, ContentType }),
    )
    const upload = { Bucket, Key, UploadId }
    try {
      const Parts: S3.CompletedPart[] = []
      for await (const Body of parts(content)) {
        const PartNumber = Parts.length + 1
        const { ETag } = await client.send(new library.UploadPartCommand({ ...upload, PartNumber, Body }))
        Parts.push({ ETag, PartNumber })
      }
      await client.send(new library.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
    } catch (error) {
      await client.send(new library.AbortMultipartUploadCommand(upload)).catch(() => {}) // the first error says more
      throw error
    }
  }

  return {
    upload: (Key, { content, contentType }) =>
      spoken(async () => {
        const { isAll, content: all } = await peek(content, PART_BYTES)
        if (!isAll) return uploadParts(Key, all, contentType)
        const Body = await collect(all, PART_BYTES)
        await client.send(new library.PutObjectCommand({ Bucket, Key, Body, ContentType: contentType }))
      }),
    download: (Key, abortSignal) =>
      spoken(async () => {
        const { Body } = await client.send(new library.GetObjectCommand({ Bucket, Key }), { abortSignal })
        return Body as unknown as AsyncIterable<Buffer> // in Node it is a stream of the response
      }),
    remove: (Key) =>
      spoken(async () => void (await client.send(new library.DeleteObjectCommand({ Bucket, Key })))),
    // Whether it can be written to is what matters, and only writing shows it.
    check: () =>
      spoken(async () => {
        const probe = { Bucket, Key: `${settings.prefix}check` }
        await client.send(new library.PutObjectCommand({ ...probe, Body: 'asyncgate' }))
        await client.send(new library.DeleteObjectCommand(probe))
      }),
  }
}

function clientSettings({
  endpoint,
  region,
  accessKeyId,
  secretAccessKey,
}: Omit<S3Settings, 'bucket'>): S3.S3ClientConfig {
  return {
    region,
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    ...(accessKeyId !== null &&
      secretAccessKey !== null && { credentials: { accessKeyId, secretAccessKey } }),
    // Checksums of the library's own are what stores other than Amazon's most often do not know. Ours is kept besides.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }
}

/** Loaded where the channel is configured and nowhere else: few need it, and it is large. */
export async function loadS3Library(load = () => import('@aws-sdk/client-s3')): Promise<typeof S3> {
  try {
    return await load()
  } catch (cause) {
    const message =
      'The channel s3 needs a package that is not installed. Install it beside asyncgate: npm install @aws-sdk/client-s3'
    throw new ChannelError('unavailable', message, { cause })
  }
}

async function* parts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let held: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    held.push(chunk)
    bytes += chunk.length
    if (bytes < PART_BYTES) continue
    yield Buffer.concat(held)
    held = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(held)
}

/** What the library throws, in our words. */
async function spoken<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Error) || error instanceof ChannelError || !('$metadata' in error)) {
      if (isTransport(error)) throw unavailable(error)
      throw error
    }
    if (error.name === 'NoSuchKey')
      throw new ChannelError('missing', 'There is no such object.', { cause: error })
    throw unavailable(error)
  }
}

function isTransport(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]/.test(error.code)
  )
}

function unavailable(error: Error): ChannelError {
  return new ChannelError('unavailable', `The store said ${error.name}: ${error.message}`, { cause: error })
}
