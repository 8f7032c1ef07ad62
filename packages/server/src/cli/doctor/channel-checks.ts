// Whether the result channels that are configured can be used.
import type { Channels } from '../../channel/open.ts'
import type { Channel } from '../../channel/port.ts'
import { type Config, ConfigError } from '../../config.ts'
import { openChannelsOf } from '../gate-access.ts'
import { fail, type Finding, ok, reasonOf, warn } from './finding.ts'

export async function checkChannels(config: Config): Promise<Finding> {
  let channels: Channels
  try {
    channels = await openChannelsOf(config)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(error.message, 'Correct the settings above.')
  }
  for (const channel of channels.all) {
    const reason = await problemOf(channel)
    if (reason !== undefined)
      return fail(`${channel.name}: ${reason}`, FIXES[channel.name] ?? 'Leave it out.')
  }
  const names = channels.all.map(({ name }) => name).join(', ')
  if (channels.large !== null) return ok(`${names}; large results go to ${channels.large}`)
  return warn(
    'There is no place for results that do not fit into their task (task.max_payload_bytes).',
    'Set channels.blob_path to a folder that all servers share, or channels.s3_bucket with channels.default: s3.',
  )
}

async function problemOf(channel: Channel): Promise<string | undefined> {
  try {
    await channel.check()
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

const FIXES: Readonly<Record<string, string>> = {
  blob: 'See that channels.blob_path is a folder that this user may write to.',
  file: 'See that channels.file_path is a folder that this user may write to.',
  s3: 'See that the bucket exists, that channels.s3_endpoint is right, and that the credentials may put and delete objects.',
}
