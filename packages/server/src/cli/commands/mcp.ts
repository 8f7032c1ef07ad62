// asyncgate mcp
import { systemIds } from '../../ids.ts'
import { clientSettings } from '../../config.ts'
import { command } from '../command.ts'
import { openLog } from '../gate-access.ts'
import { localDoor, remoteDoor } from '../mcp-door.ts'
import { DATABASE_OPTIONS, readConfig } from '../server-options.ts'
import { VERSION } from '../../version.ts'

export const mcp = command({
  name: 'mcp',
  group: 'run',
  summary: 'Serve MCP on stdio, for clients that start their servers themselves.',
  details:
    'Works on the configured database directly, or on a running server given by --url (its key in ASYNCGATE_API_KEY). ' +
    'Nothing but the protocol goes to stdout; logs go to stderr.',
  configured: true,
  options: {
    url: { kind: 'text', shows: '<url>', about: 'A running server to pass everything on to.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    { line: 'asyncgate mcp --database sqlite:/home/me/asyncgate.db', about: 'on a database file of its own' },
    { line: 'asyncgate mcp --url http://127.0.0.1:8420', about: 'on a running server' },
  ],
  async run(call) {
    const { values, terminal } = call
    const { config } = readConfig(call)
    const log = await openLog(config)
    const { serveMcpOnStdio } = await import('../../facade/mcp/stdio.ts')
    const door =
      values.url === undefined
        ? await localDoor(config, log)
        : await remoteDoor((options) => terminal.connect(clientSettings(values, terminal.env), options))
    const { dispatch, caller } = door
    const session = serveMcpOnStdio({
      dispatch,
      caller,
      toolNames: config.mcp.toolNames,
      version: VERSION,
      ids: systemIds,
      log,
    })
    const ignore = terminal.onStopSignal(() => void session.close()) // `closed` below tells when it has
    await session.closed
    ignore()
    await door.close()
    return 0
  },
})
