// Every channel against the one suite, and what only some of them could do wrong: leave their folder, reach into a network.
import { createReadStream, createWriteStream } from 'node:fs'
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBlobChannel } from '../../src/channel/blob.ts'
import { measure } from '../../src/channel/content.ts'
import { createFileChannel } from '../../src/channel/file.ts'
import { createHttpChannel } from '../../src/channel/http.ts'
import { createInlineChannel } from '../../src/channel/inline.ts'
import type { Channel, Placed } from '../../src/channel/port.ts'
import { createS3Channel } from '../../src/channel/s3.ts'
import { systemIds } from '../../src/ids.ts'
import { verifies } from '../requirements.ts'
import { bytesOf, channelConformance } from './conformance.ts'
import { startS3Server } from './s3-server.ts'

const KIB = 1_024
const MIB = 1_024 * KIB
const SIZES = [1, 32 * KIB, 8 * MIB, 8 * MIB + 1, 200 * MIB]
const NEVER = new AbortController().signal

const temporary = () => mkdtemp(join(tmpdir(), 'asyncgate-channel-'))

async function openInFolder(create: (path: string) => Channel) {
  const folder = await temporary()
  return {
    channel: create(folder),
    tamper: async (placed: Placed) => {
      const names = await readdir(folder, { recursive: true, encoding: 'utf8' })
      const last = placed.pointer.slice(placed.pointer.lastIndexOf('/') + 1)
      await appendFile(join(folder, names.find((name) => name.endsWith(last))!), '!')
      return placed
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

channelConformance(
  'inline',
  async () => ({
    channel: createInlineChannel({ bytesMax: 32 * KIB }),
    tamper: async (placed) => ({
      ...placed,
      pointer: `inline:${Buffer.from('a lie').toString('base64url')}`,
    }),
    close: async () => {},
  }),
  [1, 32 * KIB],
)
channelConformance('blob', () => openInFolder((path) => createBlobChannel({ path })), SIZES)
channelConformance('file', () => openInFolder((path) => createFileChannel({ path })), SIZES)
channelConformance(
  's3',
  async () => {
    const server = await startS3Server()
    return {
      channel: createS3Channel(server.settings),
      tamper: async (placed) => {
        const last = placed.pointer.slice(placed.pointer.lastIndexOf('/') + 1)
        await appendFile((await server.files()).find((name) => name.includes(last))!, '!')
        return placed
      },
      close: server.close,
    }
  },
  SIZES,
)
channelConformance('http', async () => {
  const { folder, url, close } = await startStore()
  return {
    channel: createHttpChannel({ isAllowed: () => true }),
    targetUrl: (name) => `${url}/${name}?signature=secret`,
    tamper: async (placed) => {
      await appendFile(join(folder, new URL(placed.pointer.slice('http:'.length)).pathname), '!')
      return placed
    },
    close,
  }
}, [1, 32 * KIB, 20 * MIB])

/** PUT and GET of files, whole or not at all. */
async function startStore() {
  const folder = await temporary()
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '', 'http://here').pathname)
    const answer = (status: number) => void (response.headersSent || response.writeHead(status).end())
    if (request.method === 'PUT') {
      pipeline(request, createWriteStream(`${path}.part`))
        .then(() => rename(`${path}.part`, path))
        .then(
          () => answer(201),
          () => answer(400),
        )
    } else {
      stat(path).then(
        () => void pipeline(createReadStream(path), response).catch(() => {}),
        () => answer(404),
      )
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { folder, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const TASK = systemIds.next()
const at = (pointer: string): Placed => ({ tenantId: 'acme', taskId: TASK, pointer })

function parcelOf(text: string, more: object = {}) {
  return {
    tenantId: 'acme',
    taskId: TASK,
    resultId: systemIds.next(),
    contentType: 'text/plain',
    bytes: null,
    targetUrl: null,
    content: measure(bytesOf(text)),
    ...more,
  }
}

const ignored = async () => {}

describe('the folder', () => {
  let root: string
  let outside: string
  let channel: Channel
  beforeAll(async () => {
    root = await temporary()
    outside = await temporary()
    await writeFile(join(outside, 'secret.txt'), 'secret')
    channel = createFileChannel({ path: root })
    await channel.put(parcelOf('mine'), ignored)
  })
  afterAll(() => Promise.all([root, outside].map((path) => rm(path, { recursive: true, force: true }))))

  test.each([
    '../secret.txt',
    '/etc/passwd',
    `acme/${TASK}/../../../secret.txt`,
    `acme/${TASK}/..`,
    `acme/${TASK}/./x`,
    `acme/${TASK}//x`,
    `acme/${TASK}/x\0.txt`,
    `acme/${TASK}/..\\..\\secret.txt`,
    `acme/${TASK}/%2e%2e/x`,
    `acme/${TASK}/.incoming`,
    'acme/another-task/x',
    'other/tenant/x',
    '',
  ])('file:%j is refused', async (path) => {
    for (const move of [() => channel.get(at(`file:${path}`), NEVER), () => channel.ack(at(`file:${path}`))])
      await expect(move()).rejects.toMatchObject({ code: 'refused' })
  })

  verifies('CHAN-3', 'a link is not followed, be it the file or a folder on the way', async () => {
    await symlink(join(outside, 'secret.txt'), join(root, 'acme', TASK, 'link.txt'))
    await symlink(outside, join(root, 'acme', TASK, 'linked'))
    for (const name of ['link.txt', 'linked/secret.txt'])
      await expect(channel.get(at(`file:acme/${TASK}/${name}`), NEVER)).rejects.toMatchObject({
        code: 'refused',
      })
    await symlink(outside, join(root, 'tenant'))
    const linked = parcelOf('escape', { tenantId: 'tenant' })
    await expect(channel.put(linked, ignored)).rejects.toMatchObject({ code: 'refused' })
    expect(await readdir(outside)).toEqual(['secret.txt'])
  })

  test('a folder in the place of a file is refused', async () => {
    await mkdir(join(root, 'acme', TASK, 'folder'))
    await expect(channel.get(at(`file:acme/${TASK}/folder`), NEVER)).rejects.toMatchObject({
      code: 'refused',
    })
  })

  test('what a crash left halfway goes after its time, what is under way stays', async () => {
    const incoming = join(root, '.incoming')
    await Promise.all(['old', 'new'].map((name) => writeFile(join(incoming, name), 'half')))
    await utimes(join(incoming, 'old'), 1_000, 1_000)
    expect(await channel.tidy?.(2_000_000)).toBe(1)
    expect(await readdir(incoming)).toEqual(['new'])
  })

  test('files are called by what they are', async () => {
    const pointer = await channel.put(
      parcelOf('{}', { contentType: 'application/json; charset=utf-8' }),
      ignored,
    )
    expect(pointer).toMatch(/\.json$/)
  })
})

test('a blob is named by its checksum, and stored once for a task', async () => {
  const root = await temporary()
  const channel = createBlobChannel({ path: root })
  const pointers = [
    await channel.put(parcelOf('same'), ignored),
    await channel.put(parcelOf('same'), ignored),
  ]
  expect(new Set(pointers)).toEqual(
    new Set(['blob:local/0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5']),
  )
  expect(await readdir(join(root, 'acme', TASK))).toHaveLength(1)
  await expect(channel.get(at('blob:local/../../x'), NEVER)).rejects.toMatchObject({ code: 'refused' })
  await rm(root, { recursive: true })
})

test('s3 keeps to its bucket, its prefix and the place of the task', async () => {
  const channel = createS3Channel({
    bucket: 'results',
    endpoint: null,
    region: 'us-east-1',
    prefix: 'gate/',
    accessKeyId: 'x',
    secretAccessKey: 'x',
  })
  for (const key of ['other/x', 'results/x', `results/gate/other/${TASK}/x`, `resultsx/gate/acme/${TASK}/x`])
    await expect(channel.get(at(`s3:${key}`), NEVER)).rejects.toMatchObject({ code: 'refused' })
})

describe('http', () => {
  const channel = createHttpChannel()

  verifies('CHAN-3', 'private addresses are refused at connect time, to read and to write', async () => {
    const { url, folder, close } = await startStore()
    await writeFile(join(folder, 'x'), 'inside')
    const port = new URL(url).port
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1']) {
      const target = `http://${host}:${port}/x`
      await expect(channel.get(at(`http:${target}`), NEVER)).rejects.toMatchObject({ code: 'refused' })
      await expect(channel.put(parcelOf('x', { targetUrl: target }), ignored)).rejects.toMatchObject({
        code: 'refused',
      })
    }
    expect(await readdir(folder)).toEqual(['x'])
    await close()
  })

  test.each(['file:///etc/passwd', 'ftp://example.org/x', 'nonsense'])(
    '%s is no place for it',
    async (url) => {
      await expect(channel.get(at(`http:${url}`), NEVER)).rejects.toMatchObject({ code: 'refused' })
      await expect(channel.put(parcelOf('x', { targetUrl: url }), ignored)).rejects.toMatchObject({
        code: 'refused',
      })
    },
  )

  test('a pointer tells nothing of the leave to write, and user names are refused', async () => {
    const { url, close } = await startStore()
    const open = createHttpChannel({ isAllowed: () => true })
    const targetUrl = `${url}/x?signature=secret#part`
    expect(await open.put(parcelOf('x', { targetUrl }), ignored)).toBe(`http:${url}/x`)
    const named = url.replace('http://', 'http://user:password@')
    await expect(open.put(parcelOf('x', { targetUrl: named }), ignored)).rejects.toMatchObject({
      code: 'refused',
    })
    await expect(open.put(parcelOf('x'), ignored)).rejects.toMatchObject({ code: 'refused' })
    await close()
  })
})
