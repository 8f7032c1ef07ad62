// inline: the pointer holds the content. For what is small enough to travel with the task.
import { collect } from './content.ts'
import { type Channel, dataOf, KEEPS_ANYTHING } from './port.ts'

export function createInlineChannel({ bytesMax }: { readonly bytesMax: number }): Channel {
  return {
    name: 'inline',
    async put({ content }, announce) {
      const pointer = `inline:${(await collect(content, bytesMax)).toString('base64url')}`
      await announce(pointer)
      return pointer
    },
    async get({ pointer }) {
      const content = Buffer.from(dataOf('inline', pointer), 'base64url')
      return (async function* () {
        yield content
      })()
    },
    ack: async () => {},
    capabilities: () => ({ ...KEEPS_ANYTHING, max_size_bytes: bytesMax, supports_streaming: false }),
    check: async () => {},
  }
}
