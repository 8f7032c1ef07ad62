// blob: content by its own checksum, in a folder. The same result of a task, stored twice, is one file.
import { createFolder } from './folder.ts'
import { type Channel, ChannelError, dataOf, KEEPS_ANYTHING, type Placed, type Shelf } from './port.ts'

/** Stands for the folder in pointers, which must not tell where it is. */
const STORE = 'local'

export function createBlobChannel({ path }: { readonly path: string }): Channel {
  const folder = createFolder(path)
  return {
    name: 'blob',
    async put(parcel, announce) {
      let pointer = ''
      await folder.write(parcel.resultId, parcel.content, async () => {
        const { sha256 } = parcel.content.measured()
        pointer = `blob:${STORE}/${sha256}`
        await announce(pointer)
        return pathOf(parcel, sha256)
      })
      return pointer
    },
    get: async (placed) => folder.read(pathOf(placed, sha256Of(placed))),
    ack: async (placed) => folder.remove(pathOf(placed, sha256Of(placed))),
    capabilities: () => KEEPS_ANYTHING,
    check: () => folder.check(),
    tidy: (before) => folder.tidy(before),
  }
}

function pathOf({ tenantId, taskId }: Shelf, sha256: string): string {
  return `${tenantId}/${taskId}/${sha256}`
}

function sha256Of({ pointer }: Placed): string {
  const match = /^local\/([0-9a-f]{64})$/.exec(dataOf('blob', pointer))
  if (match !== null) return match[1]!
  throw new ChannelError('refused', 'A blob is named by 64 hexadecimal digits.')
}
