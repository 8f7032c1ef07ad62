// A folder that nothing leaves: whatever a path says, what is opened lies below the root and was reached through no link.
// Files appear whole or not at all: written aside, flushed, then moved into place.
import { constants, createReadStream } from 'node:fs'
import { access, lstat, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ChannelError, type Content } from './port.ts'

/** A name that no pointer can have: see `pathOf`. */
const INCOMING = '.incoming'
const CHUNK_BYTES = 256 * 1_024

export interface Folder {
  /** `pathFor` is asked once all has been read, before the file is in its place. */
  write(aside: string, content: Content, pathFor: () => Promise<string>): Promise<void>
  read(path: string): Promise<AsyncIterable<Buffer>>
  remove(path: string): Promise<void>
  check(): Promise<void>
  /** Removes what was written aside and never moved, if it was last touched before that time. */
  tidy(before: number): Promise<number>
}

export function createFolder(root: string): Folder {
  const incoming = () => ensureFolder(INCOMING)

  /** Made if need be, one step after the other, so that none is made behind a link. */
  async function ensureFolder(path: string): Promise<string> {
    await mkdir(root, { recursive: true })
    const steps = path.split(sep)
    for (const [index, name] of steps.entries()) {
      const parent = await realOf(steps.slice(0, index).join(sep))
      await mkdir(join(parent, name)).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error
      })
    }
    return realOf(path)
  }

  async function realOf(path: string): Promise<string> {
    const wanted = join(await realpath(root), path)
    if ((await realpath(wanted)) === wanted) return wanted
    throw new ChannelError('refused', `${path} leads out of the folder, or through a link.`)
  }

  async function writeAside(path: string, content: Content): Promise<void> {
    const file = await open(path, 'wx', 0o640)
    // A stream gathers small chunks into one write, and is flushed to the disk before it closes.
    await pipeline(content, file.createWriteStream({ flush: true, highWaterMark: CHUNK_BYTES }))
  }

  return {
    async write(aside, content, pathFor) {
      const written = join(await incoming(), aside)
      try {
        await writeAside(written, content)
        const path = pathOf(await pathFor())
        const folder = await ensureFolder(dirname(path))
        await rename(written, join(folder, basename(path)))
        await flushFolders(folder, await realpath(root))
      } catch (error) {
        await rm(written, { force: true })
        throw readable(error, aside)
      }
    },
    async read(path) {
      try {
        return await openInside(await realOf(pathOf(path)))
      } catch (error) {
        throw readable(error, path)
      }
    },
    async remove(path) {
      try {
        await rm(await realOf(pathOf(path)), { force: true })
      } catch (error) {
        if (!isMissing(error)) throw readable(error, path)
      }
    },
    async check() {
      try {
        await access(await nearest(resolve(root)), constants.W_OK | constants.X_OK)
      } catch (error) {
        throw readable(error, resolve(root))
      }
    },
    async tidy(before) {
      const folder = join(root, INCOMING)
      let gone = 0
      for (const name of await readdir(folder).catch(() => [])) {
        const { mtimeMs } = await stat(join(folder, name)).catch(() => ({
          mtimeMs: Number.POSITIVE_INFINITY,
        }))
        if (mtimeMs >= before) continue
        await rm(join(folder, name), { force: true })
        gone += 1
      }
      return gone
    },
  }
}

/** Names with slashes between them, and none that means another place. */
function pathOf(path: string): string {
  const names = path.split('/')
  const isPlain = (name: string) => /^[\w-][\w.-]*$/.test(name)
  if (names.every(isPlain)) return names.join(sep)
  throw new ChannelError('refused', `${JSON.stringify(path.slice(0, 200))} is not a path within the folder.`)
}

/** A folder is made when it is first needed, in the one above it that is there already. */
async function nearest(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return path
  if (found !== undefined) throw new ChannelError('unavailable', `${path} is not a folder.`)
  return nearest(dirname(path))
}

/** The file that was looked at is the one that is read: a link put in its place meanwhile is not followed. */
async function openInside(path: string): Promise<AsyncIterable<Buffer>> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  const [opened, there] = await Promise.all([file.stat(), lstat(path)]).catch(async (error: unknown) => {
    await file.close()
    throw error
  })
  if (!opened.isFile() || opened.ino !== there.ino || opened.dev !== there.dev) {
    await file.close()
    throw new ChannelError('refused', 'It is no plain file.')
  }
  return createReadStream('', { fd: file, highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>
}

/** A new name survives a crash once its folder is flushed, and so for the folders that were made for it. */
async function flushFolders(from: string, root: string): Promise<void> {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const handle = await open(folder, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (folder === root) return
  }
}

function readable(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof ChannelError || !('syscall' in error)) return error
  if (isMissing(error))
    return new ChannelError('missing', `There is no ${what} in the folder.`, { cause: error })
  if (hasCode(error, 'ELOOP')) return new ChannelError('refused', `${what} is a link.`, { cause: error })
  return new ChannelError('unavailable', `The folder cannot be used: ${error.message}`, { cause: error })
}

function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
