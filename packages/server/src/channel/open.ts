// From the configuration to the channels that there are.
import { type Config, ConfigError } from '../config.ts'
import { createBlobChannel } from './blob.ts'
import { createFileChannel } from './file.ts'
import { createHttpChannel } from './http.ts'
import { createInlineChannel } from './inline.ts'
import type { Channel, ChannelName } from './port.ts'
import { createS3Channel, loadS3Library } from './s3.ts'

export interface Channels {
  readonly all: readonly Channel[]
  find(name: string): Channel | undefined
  /** Where results go that are too large to be inline; null where there is no such place. */
  readonly large: ChannelName | null
  readonly inlineBytesMax: number
  /** Of one result, whatever the channel. */
  readonly bytesMax: number
}

type ChannelConfig = Pick<Config, 'channels' | 'database'>

export async function openChannels(config: ChannelConfig): Promise<Channels> {
  const { channels } = config
  requirePlaces(channels)
  if (channels.s3Bucket !== null) await requireLibrary()
  const { inlineMaxBytes, maxBytes } = channels
  const blobPath = blobPathOf(config)
  const all = [
    createInlineChannel({ bytesMax: inlineMaxBytes }),
    ...(blobPath === null ? [] : [createBlobChannel({ path: blobPath })]),
    ...(channels.filePath === null ? [] : [createFileChannel({ path: channels.filePath })]),
    ...(channels.s3Bucket === null ? [] : [createS3Channel(s3SettingsOf(channels, channels.s3Bucket))]),
    ...(channels.http ? [createHttpChannel()] : []),
  ]
  const find = (name: string) => all.find((channel) => channel.name === name)
  return {
    all,
    find,
    large: find(channels.default)?.name ?? null,
    inlineBytesMax: inlineMaxBytes,
    bytesMax: maxBytes,
  }
}

/** A channel that is named must have a place; told at the start and not by the first result. */
function requirePlaces({
  default: large,
  filePath,
  s3Bucket,
  s3AccessKeyId,
  s3SecretAccessKey,
}: Config['channels']) {
  const problem = (where: string, message: string) => new ConfigError([{ where, message }])
  if (large === 'file' && filePath === null)
    throw problem('channels.default', 'It is file, but channels.file_path is not set. Set it to a folder.')
  if (large === 's3' && s3Bucket === null)
    throw problem('channels.default', 'It is s3, but channels.s3_bucket is not set. Set it to a bucket.')
  if ((s3AccessKeyId === null) !== (s3SecretAccessKey === null))
    throw problem(
      'channels.s3_access_key_id',
      'It goes together with channels.s3_secret_access_key. Set both or none.',
    )
}

async function requireLibrary(): Promise<void> {
  await loadS3Library().catch((error: Error) => {
    throw new ConfigError([{ where: 'channels.s3_bucket', message: error.message }])
  })
}

/** Beside an SQLite file, which one machine has to itself; servers that share a database must be told what they share. */
function blobPathOf({ channels, database }: ChannelConfig): string | null {
  if (channels.blobPath !== null) return channels.blobPath
  const file = /^sqlite:(.+)$/.exec(database.url)?.[1]
  return file === undefined || file.startsWith(':') ? null : `${file}-results`
}

function s3SettingsOf(channels: Config['channels'], bucket: string) {
  return {
    bucket,
    endpoint: channels.s3Endpoint,
    region: channels.s3Region,
    prefix: channels.s3Prefix,
    accessKeyId: channels.s3AccessKeyId,
    secretAccessKey: channels.s3SecretAccessKey,
  }
}
