// Results as streams, to and from a gate within the process.
import { Readable } from 'node:stream'
import type { ContentCalls, Download, UploadOptions } from '@asyncgate/sdk'
import { SHARED_CALLER } from '../auth/shared-key.ts'
import type { Dispatch } from '../facade/dispatch.ts'
import type { OpenResult } from '../result/open.ts'

export function contentCalls(dispatch: Dispatch): ContentCalls {
  return {
    async uploadTaskResult(input, content, { signal, onProgress } = {}) {
      const upload = { content: watched(content, onProgress), bytes: null }
      const reply = await dispatch('putTaskResult', input, { ...callOf(signal), upload })
      return reply as Awaited<ReturnType<ContentCalls['uploadTaskResult']>> // what that operation answers
    },
    downloadTaskResult: (input, { signal } = {}) =>
      new Promise((resolve, reject) => {
        const deliver = async (result: OpenResult) => resolve(downloadOf(result))
        dispatch('fetchTaskResult', input, { ...callOf(signal), deliver }).catch(reject)
      }),
  }
}

function callOf(signal: AbortSignal | undefined) {
  return { caller: SHARED_CALLER, ...(signal && { signal }) }
}

async function* watched(
  content: Parameters<ContentCalls['uploadTaskResult']>[1],
  onProgress: UploadOptions['onProgress'],
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of chunksOf(content)) {
    bytes += chunk.length
    yield chunk
    onProgress?.({ bytes, totalBytes: null })
  }
}

function chunksOf(content: Parameters<ContentCalls['uploadTaskResult']>[1]): AsyncIterable<Uint8Array> {
  if (typeof content === 'string') return Readable.from([Buffer.from(content)])
  if (content instanceof Uint8Array) return Readable.from([content])
  return content instanceof Blob ? content.stream() : content
}

function downloadOf({ contentType, expected, held, content }: OpenResult): Download {
  return {
    contentType: contentType ?? 'application/octet-stream',
    bytes: held?.length ?? expected.bytes,
    sha256: expected.sha256,
    content: ReadableStream.from(content),
  }
}
