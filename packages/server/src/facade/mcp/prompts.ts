// The prompt `bootstrap`: how to begin a session, with what is open at that moment.
import { GateError } from '@asyncgate/sdk'
import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { type ToolNames, toolName } from './names.ts'
import { type Call, OBLIGATIONS_URI, toProtocolError } from './resources.ts'

export const PROMPTS: ListPromptsResult = {
  prompts: [
    {
      name: 'bootstrap',
      title: 'Begin a session',
      description: 'What is open from earlier sessions, and what to do about it.',
      arguments: [
        {
          name: 'principal_kind',
          description: 'Act as a principal of this kind, where your credential may.',
        },
        { name: 'principal_id', description: 'Act as this principal, where your credential may.' },
      ],
    },
  ],
}

interface Asked {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

export async function getPrompt(asked: Asked, names: ToolNames, call: Call): Promise<GetPromptResult> {
  if (asked.name !== 'bootstrap') {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${asked.name}`)
  }
  try {
    const open = await call('openObligations', asked.arguments ?? {})
    return { description: 'Begin a session with AsyncGate.', messages: messages(open, names) }
  } catch (error) {
    if (error instanceof GateError) throw toProtocolError(error)
    throw error
  }
}

function messages(open: object, names: ToolNames): GetPromptResult['messages'] {
  const text = [
    'You are connected to AsyncGate, which keeps the work that you handed off in earlier sessions.',
    'The attached resource lists your open obligations: each is a task.assigned or schedule.created receipt that nothing ' +
      'has discharged yet.',
    `For each, look at its task with ${toolName('getTask', names)}. If it has ended, use the result; if it seems stuck, ask ` +
      `${toolName('explainTask', names)}; if it is no longer wanted, ${toolName('cancelTask', names)}.`,
    'Then tell me in a few lines what is open, what has ended since, and what you suggest.',
  ].join('\n')
  const resource = { uri: OBLIGATIONS_URI, mimeType: 'application/json', text: JSON.stringify(open) }
  return [
    { role: 'user', content: { type: 'text', text } },
    { role: 'user', content: { type: 'resource', resource } },
  ]
}
