// The first part of what a program writes: the rest is read, so that the program can go on, and forgotten.
import type { Readable } from 'node:stream'

export interface KeptOutput {
  /** As text that any reply may hold. */
  text(): string
  isCut(): boolean
}

export function keepFirst(stream: Readable, bytesMax: number): KeptOutput {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes))
    bytes += chunk.length
  })
  return {
    text: () => Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD'),
    isCut: () => bytes > bytesMax,
  }
}
