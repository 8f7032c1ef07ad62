// The pages docs/reference/operations.md and errors.md, made from the contract.
import { contentRouteOf, ERRORS, type ErrorCode, type Operation } from '@asyncgate/sdk'
import { curlText, type Described, describeOperations, type Field, typeText } from './describe.ts'
import { scopeText } from './openapi.ts'
import { type JsonSchema, schemaOf } from './schema.ts'

const GENERATED =
  '<!-- Generated from the contract (packages/sdk/src) by "npm run generate". Do not edit. -->'

export function operationsReference(): string {
  const groups = [...Map.groupBy(describeOperations(), ({ group }) => group)]
  const contents = groups.flatMap(([name, operations]) => [
    `- ${name}: ${operations.map((one) => `[${one.name}](#${one.name})`).join(', ')}`,
  ])
  const sections = groups.flatMap(([name, operations]) => [`## ${name}`, ...operations.map(section)])
  return `${[OPERATIONS_INTRODUCTION, contents.join('\n'), ...sections].join('\n\n')}\n`
}

const OPERATIONS_INTRODUCTION = `# Operations

${GENERATED}

Every operation is one REST route and one MCP tool: the same validation, the same state, the same errors. MCP arguments are
the path, query and body fields together. Unknown fields are refused. Times are ISO 8601 in UTC. See [errors](errors.md)
for every error code, and \`/openapi.json\` of a running server (or [openapi.json](openapi.json)) for the full schemas.`

function section(described: Described): string {
  const { name, method, path, operation, fields, errors, example } = described
  const own = errors
    .filter((code) => operation.errors.includes(code))
    .map((code) => `[${code}](errors.md#${code})`)
  const parts = [
    `### ${name}`,
    `${operation.deprecated ? '**Deprecated.** ' : ''}${operation.summary} ${operation.guide}`,
    `- REST: \`${method} ${path}\` → ${operation.status ?? 200}${contentText(operation)}\n- MCP: \`asyncgate_${name}\`\n- ${scopeText(operation)}`,
    fields.length > 0 ? fieldTable(fields) : 'No parameters.',
    `Reply: ${replyText(operation)}`,
    own.length > 0 ? `Errors of its own: ${own.join(', ')}.` : '',
    example ? `\`\`\`sh\n${curlText(described)}\n\`\`\`` : '',
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function contentText(operation: Operation): string {
  const route = contentRouteOf(operation)
  if (route === undefined) return ''
  const what = operation.content === 'in' ? 'body' : 'reply'
  return `\n- REST, streamed: \`${route.method} ${route.path}\`, the content itself as the ${what}, all fields in the query`
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ name, required, in: place, schema, description }) =>
    row([`\`${name}\`${required ? ' *' : ''}`, place, typeText(schema), description]),
  )
  return [row(['Field (* required)', 'In', 'Type', 'About']), '|---|---|---|---|', ...rows].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
}

function replyText({ output }: Operation): string {
  const { properties = {}, required = [] } = schemaOf(output, 'output') as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.keys(properties)
    .map((name) => `\`${name}\`${required.includes(name) ? '' : '?'}`)
    .join(', ')
}

export function errorsReference(): string {
  const sections = (Object.keys(ERRORS) as ErrorCode[]).map(errorSection)
  return `${[ERRORS_INTRODUCTION, ...sections].join('\n\n')}\n`
}

const ERRORS_INTRODUCTION = `# Errors

${GENERATED}

One body everywhere, over REST with its status and over MCP as a tool result with \`isError: true\`:

\`\`\`json
{ "error": "not_found", "message": "what to do", "retryable": false, "request_id": "…" }
\`\`\`

\`message\` says the fix. \`retryable\` says whether repeating the same call can help. \`request_id\` is also in the header
\`X-Request-Id\` and in the server's log. Some errors carry further facts beside these.`

function errorSection(code: ErrorCode): string {
  const { status, retryable, when } = ERRORS[code]
  const users = describeOperations().filter(({ operation }) => operation.errors.includes(code))
  const by = users.map(({ name }) => `[${name}](operations.md#${name})`).join(', ')
  const where = by === '' ? '' : `\n\nAnswered by ${by}.`
  return `## ${code}\n\n${when}\n\nStatus ${status}. ${retryable ? 'Repeating the call later can help.' : 'Repeating the call as it is does not help.'}${where}`
}
