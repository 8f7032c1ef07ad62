// Requests to /mcp of all kinds, for comparing the two ways of answering them: plain tool calls of the newer generation,
// and what is anything else, if only by a hair. `$task` in a body stands for the id of a task that exists.
const VERSION = '2026-07-28'
const PREFIX = 'io.modelcontextprotocol/'

export interface McpRequest {
  readonly what: string
  readonly headers: Record<string, string>
  readonly body: string
  /** The code of the error, where a tool's own answer is one. */
  readonly ends?: string
}

type Members = Record<string, unknown>

const HEADERS: Readonly<Record<string, string>> = {
  host: 'localhost',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': VERSION,
  'mcp-method': 'tools/call',
}

const META: Members = {
  [`${PREFIX}protocolVersion`]: VERSION,
  [`${PREFIX}clientInfo`]: { name: 'tests', version: '1' },
  [`${PREFIX}clientCapabilities`]: {},
}

interface Changes {
  readonly name?: string
  readonly args?: unknown
  /** What is `undefined` here is left out. */
  readonly message?: Members
  readonly params?: Members
  readonly meta?: Members
  readonly headers?: Record<string, string | undefined>
  readonly ends?: string
}

/** A call like any other, but for the changes. */
function call(what: string, changes: Changes = {}): McpRequest {
  const { name = 'asyncgate_get_task', args = { task_id: '$task' } } = changes
  const meta = { ...META, ...changes.meta }
  const params = { name, arguments: args, _meta: meta, ...changes.params }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...changes.message }
  const headers = Object.entries({ ...HEADERS, 'mcp-name': name, ...changes.headers })
  return {
    what,
    headers: Object.fromEntries(
      headers.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    ),
    body: JSON.stringify(message),
    ...(changes.ends !== undefined && { ends: changes.ends }),
  }
}

const create = (what: string, args: unknown, ends?: string) =>
  call(what, { name: 'asyncgate_create_task', args, ...(ends !== undefined && { ends }) })

/** JSON that no object literal can say. */
const raw = (request: McpRequest, from: string, to: string): McpRequest => {
  if (!request.body.includes(from)) throw new Error(`${request.what}: nothing to replace`)
  return { ...request, body: request.body.replace(from, to) }
}

const TOOLS: readonly McpRequest[] = [
  create('a creation', { type: 't', payload: { a: [1, null, true, 1.5, { b: 'c' }] } }),
  create('text of all kinds', { type: 't', payload: { a: '"\\/\b\n\u2028\u007f é 漢 😀 </script>' } }),
  create('a key', { type: 't', idempotency_key: 'k' }),
  create('the same key again', { type: 't', idempotency_key: 'k' }),
  create('the same key with another body', { type: 'u', idempotency_key: 'k' }, 'idempotency_conflict'),
  call('many creations', { name: 'asyncgate_create_tasks', args: { tasks: [{ type: 'a' }, { type: 'b' }] } }),
  call('a task', {}),
  call('the dotted name', { name: 'asyncgate.get_task' }),
  call('a list', { name: 'asyncgate_list_tasks', args: { limit: 2 } }),
  call('a list of receipts', { name: 'asyncgate_list_receipts', args: {} }),
  call('what is open', { name: 'asyncgate_open_obligations', args: {} }),
  call('no arguments at all', { name: 'asyncgate_get_config', params: { arguments: undefined } }),
  call('a claim', { name: 'asyncgate_lease_next', args: { worker_id: 'w', max_tasks: 2 } }),
  call('a claim that finds nothing', {
    name: 'asyncgate_lease_next',
    args: { worker_id: 'w', accept_types: ['none'] },
  }),
  call('a cancellation', { name: 'asyncgate_cancel_task', args: { task_id: '$task', reason: 'tests' } }),
]

const TOOL_ERRORS: readonly McpRequest[] = [
  call('no such task', { args: { task_id: '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01' }, ends: 'not_found' }),
  call('a missing argument', { args: {}, ends: 'invalid_input' }),
  call('a wrong type', { args: { task_id: 7 }, ends: 'invalid_input' }),
  create('an unknown field', { type: 't', status: 'done' }, 'invalid_input'),
  create('a NUL', { type: 't', payload: { a: '\0' } }, 'invalid_input'),
  create('a lone surrogate', { type: 't', payload: { a: '\ud800' } }, 'invalid_input'),
  raw(create('__proto__ as an argument', { type: 't' }, 'invalid_input'), '"type"', '"__proto__":1,"type"'),
  create('constructor as an argument', { type: 't', constructor: { prototype: 1 } }, 'invalid_input'),
  create('a deep payload', { type: 't', payload: nested(99) }, 'invalid_input'),
  {
    ...create('a caller without the scope', { type: 't' }, 'forbidden'),
    headers: { ...HEADERS, 'mcp-name': 'asyncgate_create_task', authorization: 'Bearer worker' },
  },
]

function nested(depth: number): unknown {
  return depth === 0 ? {} : { a: nested(depth - 1) }
}

const CAPABILITIES: Members = {
  experimental: { x: { y: 1 } },
  sampling: { context: {}, tools: {} },
  elicitation: { form: { applyDefaults: true }, url: {} },
  roots: { listChanged: true },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
  unheard: 'of',
}

const LEGAL_ENVELOPES: readonly McpRequest[] = [
  ...['text', '', '7', 0, -1, 2 ** 53 - 1].map((id) => call(`id ${JSON.stringify(id)}`, { message: { id } })),
  raw(call('id -0', {}), '"id":1', '"id":-0'),
  raw(call('id 1e2', {}), '"id":1', '"id":1e2'),
  raw(call('a member given twice', {}), '"id":1', '"id":5,"id":6'),
  call('a number as progress token', { meta: { progressToken: 3 } }),
  call('a text as progress token', { meta: { progressToken: '' } }),
  call('metadata of others', {
    meta: { traceparent: 7, 'claudecode/toolUseId': { a: 1 }, constructor: null },
  }),
  call('no client info', { meta: { [`${PREFIX}clientInfo`]: undefined } }),
  call('much client info', {
    meta: { [`${PREFIX}clientInfo`]: { name: '', version: '', title: 't', icons: [{ src: 's' }], more: 1 } },
  }),
  call('many capabilities', { meta: { [`${PREFIX}clientCapabilities`]: CAPABILITIES } }),
  call('elicitation without a form', { meta: { [`${PREFIX}clientCapabilities`]: { elicitation: {} } } }),
]

const LEGAL_HEADERS: readonly McpRequest[] = [
  ...[undefined, '*/*', 'application/json', 'text/event-stream', 'text/html', ''].map((accept) =>
    call(`Accept: ${accept}`, { headers: { accept } }),
  ),
  ...['application/json; charset=utf-8', 'Application/JSON', 'application/json;'].map((type) =>
    call(`Content-Type: ${type}`, { headers: { 'content-type': type } }),
  ),
  call('headers of the older generation', { headers: { 'mcp-session-id': 's', 'last-event-id': '1' } }),
  call('headers for arguments', { headers: { 'mcp-param-task-id': 'other' } }),
  call('a Host that makes no address', { headers: { host: 'a b@c:d' } }),
  call('an id of the request', { headers: { 'x-request-id': 'mine' } }),
]

export const PLAIN_REQUESTS = [...TOOLS, ...TOOL_ERRORS, ...LEGAL_ENVELOPES, ...LEGAL_HEADERS]

const ODD_MESSAGES: readonly McpRequest[] = [
  ...[null, 1.5, 2 ** 53, true, [1], undefined].map((id) =>
    call(`id ${JSON.stringify(id)}`, { message: { id } }),
  ),
  ...['1.0', 2, undefined].map((jsonrpc) => call(`jsonrpc ${jsonrpc}`, { message: { jsonrpc } })),
  call('another member', { message: { extra: 1 } }),
  raw(call('__proto__ as a member', {}), '"id":1', '"id":1,"__proto__":{}'),
  call('a result as well', { message: { result: {} } }),
  ...[null, [], 'x', undefined].map((params) =>
    call(`params ${JSON.stringify(params)}`, { message: { params } }),
  ),
  { ...call('a batch', {}), body: `[${call('', {}).body}]` },
  { ...call('an empty batch', {}), body: '[]' },
  { ...call('a response', {}), body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
  { ...call('no message', {}), body: '{}' },
  { ...call('null', {}), body: 'null' },
]

const ODD_PARAMS: readonly McpRequest[] = [
  call('an unknown tool', { name: 'asyncgate_no_such_tool' }),
  call('a tool named like a member of every object', { name: 'constructor' }),
  call('no name', { params: { name: undefined } }),
  call('a number as name', { params: { name: 7 } }),
  ...[null, [], 'x', 1].map((args) =>
    call(`arguments ${JSON.stringify(args)}`, { params: { arguments: args } }),
  ),
  call('another parameter', { params: { extra: 1 } }),
  call('a task asked for', { params: { task: { ttl: 1 } } }),
  call('answers to questions', { params: { inputResponses: {} } }),
  call('a state given back', { params: { requestState: 's' } }),
  call('a state that is no text', { params: { requestState: 1 } }),
  raw(call('__proto__ as a parameter', {}), '"name":', '"__proto__":{},"name":'),
]

const ODD_META: readonly McpRequest[] = [
  ...[undefined, null, [], 'x', {}].map((meta) =>
    call(`_meta ${JSON.stringify(meta)}`, { params: { _meta: meta } }),
  ),
  ...[undefined, null, 7, '', '2025-11-25', '2099-01-01'].map((version) =>
    call(`version ${JSON.stringify(version)} in the body`, {
      meta: { [`${PREFIX}protocolVersion`]: version },
    }),
  ),
  ...[undefined, null, [], 'x', { roots: { listChanged: 'x' } }, { sampling: 1 }, { elicitation: [] }].map(
    (capabilities) =>
      call(`capabilities ${JSON.stringify(capabilities)}`, {
        meta: { [`${PREFIX}clientCapabilities`]: capabilities },
      }),
  ),
  ...[null, 'x', { name: 'x' }, { name: 1, version: '1' }].map((info) =>
    call(`client info ${JSON.stringify(info)}`, { meta: { [`${PREFIX}clientInfo`]: info } }),
  ),
  ...[null, 1.5, {}, true].map((progressToken) =>
    call(`progress token ${JSON.stringify(progressToken)}`, { meta: { progressToken } }),
  ),
  ...['info', 'loud'].map((level) => call(`log level ${level}`, { meta: { [`${PREFIX}logLevel`]: level } })),
  ...[{ taskId: 't' }, 7].map((related) =>
    call(`related task ${JSON.stringify(related)}`, { meta: { [`${PREFIX}related-task`]: related } }),
  ),
  call('a word of the protocol that we do not know', { meta: { [`${PREFIX}news`]: 1 } }),
  raw(call('__proto__ in _meta', {}), '"_meta":{', '"_meta":{"__proto__":{},'),
]

const name = 'asyncgate_get_task'

const ODD_HEADERS: readonly McpRequest[] = [
  ...[undefined, '', '2025-11-25', '2099-01-01', `${VERSION}, ${VERSION}`, ` ${VERSION} `].map((version) =>
    call(`version header ${JSON.stringify(version)}`, { headers: { 'mcp-protocol-version': version } }),
  ),
  ...[undefined, '', 'tools/list', 'Tools/Call', ' tools/call'].map((method) =>
    call(`method header ${JSON.stringify(method)}`, { headers: { 'mcp-method': method } }),
  ),
  ...[undefined, '', 'asyncgate_list_tasks', ` ${name} `, base64(name), base64('other'), '=?base64?%?='].map(
    (header) => call(`name header ${JSON.stringify(header)}`, { headers: { 'mcp-name': header } }),
  ),
  call('all of them missing', {
    headers: { 'mcp-protocol-version': undefined, 'mcp-method': undefined, 'mcp-name': undefined },
  }),
]

function base64(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}

const other = (what: string, method: string, params: Members, message: Members = {}) =>
  call(what, {
    message: { method, params: { ...params, _meta: META }, ...message },
    headers: { 'mcp-method': method, 'mcp-name': undefined },
  })

const older = { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined, 'mcp-name': undefined }
const client = { name: 'tests', version: '1' }

const OTHERS: readonly McpRequest[] = [
  other('tools/list', 'tools/list', {}),
  other('server/discover', 'server/discover', {}),
  other('no such method', 'tools/no-such', {}),
  other('ping', 'ping', {}),
  other('a cancellation notice', 'notifications/cancelled', { requestId: 1 }, { id: undefined }),
  other('a call as a notice', 'tools/call', { name, arguments: {} }, { id: undefined }),
  call('the older generation', { params: { _meta: undefined }, headers: older }),
  call('the older generation without a header', {
    params: { _meta: { progressToken: 1 } },
    headers: { ...older, 'mcp-protocol-version': undefined },
  }),
  call('the older generation with another Accept', {
    params: { _meta: undefined },
    headers: { ...older, accept: 'application/json' },
  }),
  call('the older generation: initialize', {
    message: {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client },
    },
    headers: { ...older, 'mcp-protocol-version': undefined },
  }),
]

export const LIBRARY_REQUESTS = [...ODD_MESSAGES, ...ODD_PARAMS, ...ODD_META, ...ODD_HEADERS, ...OTHERS]
