// Where messages to PostgreSQL are written down, one after the other, before they are copied out at their true size. It grows as
// needed, and there is one: nothing else runs while a message is being written.

/** Longer ones give back what they took. */
const KEPT_BYTES = 1024 * 1024

let sheet = Buffer.allocUnsafe(64 * 1024)

/** What has been written, up to here, as bytes of its own. */
export function copyOut(end: number): Buffer {
  const copy = Buffer.from(sheet.subarray(0, end))
  if (sheet.length > KEPT_BYTES) sheet = Buffer.allocUnsafe(KEPT_BYTES)
  return copy
}

/** Room for as many bytes from here on. What is put below is put where there is room. */
export function reserve(at: number, bytes: number): void {
  if (at + bytes <= sheet.length) return
  const larger = Buffer.allocUnsafe((at + bytes) * 2)
  sheet.copy(larger, 0, 0, at)
  sheet = larger
}

export function putByte(value: number, at: number): number {
  sheet[at] = value
  return at + 1
}

export function putInt16(value: number, at: number): number {
  sheet[at] = value >> 8
  sheet[at + 1] = value
  return at + 2
}

export function putInt32(value: number, at: number): number {
  sheet[at] = value >> 24
  sheet[at + 1] = value >> 16
  sheet[at + 2] = value >> 8
  sheet[at + 3] = value
  return at + 4
}

export function putBytes(bytes: Buffer, at: number): number {
  sheet.set(bytes, at)
  return at + bytes.length
}

export function putText(text: string, at: number, encoding?: 'hex'): number {
  return at + sheet.write(text, at, encoding)
}

/** Bytes that were written before, once more. */
export function repeat(from: number, bytes: number, at: number): number {
  sheet.copyWithin(at, from, from + bytes)
  return at + bytes
}
