// file: results as files under names that people can read, in a folder that others may share.
import { extensionOf } from './extension.ts'
import { createFolder } from './folder.ts'
import { type Channel, ChannelError, dataOf, KEEPS_ANYTHING, type Placed } from './port.ts'

export function createFileChannel({ path }: { readonly path: string }): Channel {
  const folder = createFolder(path)
  return {
    name: 'file',
    async put({ tenantId, taskId, resultId, contentType, content }, announce) {
      const name = `${tenantId}/${taskId}/${resultId}${extensionOf(contentType)}`
      await folder.write(resultId, content, async () => {
        await announce(`file:${name}`)
        return name
      })
      return `file:${name}`
    },
    get: async (placed) => folder.read(pathOf(placed)),
    ack: async (placed) => folder.remove(pathOf(placed)),
    capabilities: () => ({ ...KEEPS_ANYTHING, human_readable: true }),
    check: () => folder.check(),
    tidy: (before) => folder.tidy(before),
  }
}

/** Below the folder of its own task alone. */
function pathOf({ tenantId, taskId, pointer }: Placed): string {
  const path = dataOf('file', pointer)
  if (path.startsWith(`${tenantId}/${taskId}/`)) return path
  throw new ChannelError('refused', 'The pointer leads out of the folder of its task.')
}
