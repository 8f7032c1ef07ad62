#!/usr/bin/env node
// The entry of the command line: `asyncgate <command>`.
import { enableCompileCache } from 'node:module'

// Before the rest is loaded: from the second call on, a command starts a third quicker.
enableCompileCache()
const { processTerminal } = await import('./process-terminal.ts')
const { runCli } = await import('./run.ts')

process.exitCode = await runCli(process.argv.slice(2), processTerminal())
