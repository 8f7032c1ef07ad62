// The official MCP clients behind one small face: version 1, and version 2 in both protocol generations.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export interface ToolResult {
  isError?: boolean
  content: { type: string; text?: string }[]
  structuredContent?: Record<string, unknown>
}

export interface McpClient {
  listTools(): Promise<{ tools: { name: string; description?: string; outputSchema?: object }[] }>
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>
  listResources(): Promise<{ resources: { uri: string }[] }>
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>
  readResource(params: { uri: string }): Promise<{ contents: object[] }>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: object[] }>
  getInstructions(): string | undefined
  close(): Promise<void>
}

export type Target =
  | { url: string; headers: Record<string, string>; fetch?: typeof fetch }
  | { command: string; args: string[] }
export type Connect = (target: Target) => Promise<McpClient>

const WHO = { name: 'asyncgate-tests', version: '1.0.0' }

async function connectV1(target: Target): Promise<McpClient> {
  const client = new ClientV1(WHO)
  const transport =
    'url' in target
      ? new HttpV1(new URL(target.url), { requestInit: { headers: target.headers } })
      : new StdioV1({ ...target, stderr: 'ignore' })
  await client.connect(transport)
  return client as unknown as McpClient
}

function connectV2(mode: 'legacy' | { pin: string }): Connect {
  return async (target) => {
    const client = new ClientV2(WHO, { versionNegotiation: { mode } })
    const transport =
      'url' in target
        ? new HttpV2(new URL(target.url), {
            requestInit: { headers: target.headers },
            ...(target.fetch && { fetch: target.fetch }),
          })
        : new StdioV2({ ...target, stderr: 'ignore' })
    await client.connect(transport)
    return client as unknown as McpClient
  }
}

export const CLIENTS: readonly (readonly [string, Connect])[] = [
  ['client 1.x, 2025-11-25', connectV1],
  ['client 2.x, 2025-11-25', connectV2('legacy')],
  ['client 2.x, 2026-07-28', connectV2({ pin: '2026-07-28' })],
]
