// Where messages to PostgreSQL are written down, one after the other: those that go together on one sheet, which goes to the socket
// as it is. A buffer for each, put together once more, took 15 µs for the 70 kB of a commit.

export interface Sheet {
  bytes: Buffer<ArrayBuffer>
  end: number
}

const SHEET_BYTES = 64 * 1024
/** Longer ones are not used again. */
const KEPT_BYTES = 1024 * 1024
const KEPT_MAX = 16

const kept: Sheet[] = []

export function takeSheet(): Sheet {
  return kept.pop() ?? { bytes: Buffer.allocUnsafe(SHEET_BYTES), end: 0 }
}

/** By whom nothing of it is needed any more, nor by the socket that it was given to. */
export function giveBack(sheet: Sheet): void {
  if (sheet.bytes.length <= KEPT_BYTES && kept.length < KEPT_MAX) kept.push({ bytes: sheet.bytes, end: 0 })
}

const NOTHING = Buffer.alloc(0)

/** That which is written on: nothing else runs while a message is being written. */
let bytes = NOTHING

/** Behind what is there; where that fails, nothing is added. `write` is told where to begin, and tells where it has ended. */
export function writeOn(sheet: Sheet, write: (at: number) => number): void {
  bytes = sheet.bytes
  try {
    sheet.end = write(sheet.end)
  } finally {
    sheet.bytes = bytes // it may have grown
    bytes = NOTHING
  }
}

/** Room for as many bytes from here on. What is put below is put where there is room. */
export function reserve(at: number, count: number): void {
  if (at + count <= bytes.length) return
  const larger = Buffer.allocUnsafe((at + count) * 2)
  bytes.copy(larger, 0, 0, at)
  bytes = larger
}

export function putByte(value: number, at: number): number {
  bytes[at] = value
  return at + 1
}

export function putInt16(value: number, at: number): number {
  bytes[at] = value >> 8
  bytes[at + 1] = value
  return at + 2
}

export function putInt32(value: number, at: number): number {
  bytes[at] = value >> 24
  bytes[at + 1] = value >> 16
  bytes[at + 2] = value >> 8
  bytes[at + 3] = value
  return at + 4
}

export function putBytes(content: Buffer, at: number): number {
  bytes.set(content, at)
  return at + content.length
}

export function putText(text: string, at: number, encoding?: 'hex'): number {
  return at + bytes.write(text, at, encoding)
}

/** Bytes that were written before, once more. */
export function repeat(from: number, count: number, at: number): number {
  bytes.copyWithin(at, from, from + count)
  return at + count
}
