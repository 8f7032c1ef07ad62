// Callers who go before they are answered.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { authorized, callerWith, createTestApp } from '../../test/facade-kit.ts'

test.each([
  { how: 'that came with its head', contentType: 'application/json' },
  { how: 'that is followed as a stream', contentType: 'application/json; charset=utf-8' },
])('nothing is done for a caller who has gone before it was known who it is, body $how', async (of) => {
  const asked = Promise.withResolvers<void>()
  const known = Promise.withResolvers<void>()
  const { app, seen } = createTestApp(
    { leaseNext: async () => ({ tasks: [] }) },
    {
      authenticate: async () => {
        asked.resolve()
        await known.promise
        return callerWith({})
      },
    },
  )
  onTestFinished(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const body = '{"worker_id":"w","wait_seconds":60}'
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  const accepted = once(app.server, 'connection') as Promise<[Socket]>
  const socket = connect(address.port, '127.0.0.1')
  socket.write(
    `POST /v1/leases/claim HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorized.authorization}\r\n` +
      `content-type: ${of.contentType}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const [theirs] = await accepted
  await asked.promise
  socket.destroy()
  await once(theirs, 'close')
  known.resolve()
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  expect(seen).toEqual([])
})
