// The API page: every operation for people to read, self-contained, from the contract.
import { ERRORS } from '@asyncgate/sdk'
import { curlText, type Described, describeOperations, type Field, typeText } from './describe.ts'
import { STYLE } from './docs-style.ts'
import { type Html, html, prose } from './html.ts'
import { scopeText } from './openapi.ts'
import { schemaOf } from './schema.ts'

export function docsPage({ version }: { version: string }): string {
  const groups = [...Map.groupBy(describeOperations(), ({ group }) => group)]
  const body = html`
<div class="frame">
<nav aria-label="Operations">
<a href="#top"><strong>AsyncGate</strong> ${version}</a>
${groups.map(([name, operations]) => html`<h2>${name}</h2><ul>${operations.map(navItem)}</ul>`)}
<h2>More</h2>
<ul><li><a href="#errors">Errors</a></li><li><a href="/openapi.json">openapi.json</a></li><li><a href="/health">Health</a></li></ul>
</nav>
<main id="top">
${introduction()}
${groups.map(([name, operations]) => html`<h2>${name}</h2>${operations.map(article)}`)}
${errorTable()}
</main>
</div>`
  return page('AsyncGate API', body)
}

export function landingPage({ version }: { version: string }): string {
  const body = html`
<main class="card">
<h1>AsyncGate</h1>
<p class="quiet">${version}</p>
<p>Hand off long work, forget about it, and later prove what became of it.</p>
<ul>
<li><a href="/docs">API</a>: every operation, with examples</li>
<li><a href="/openapi.json">openapi.json</a>: the same for programs</li>
<li><a href="/health">Health</a></li>
<li><code>/mcp</code>: the address for MCP clients (Streamable HTTP)</li>
</ul>
</main>`
  return page('AsyncGate', body)
}

function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>${body}</body>
</html>
`.text
}

function introduction(): Html {
  return html`
<h1>AsyncGate API</h1>
<p>Hand off long work, forget about it, and later prove what became of it. Every operation below is one REST route and
one MCP tool: the same validation, the same state, the same errors.</p>
<p>Send the key as <code>Authorization: Bearer &lt;key&gt;</code> or <code>X-API-Key: &lt;key&gt;</code> (development mode
asks for none). MCP clients connect to <code>/mcp</code>. Bodies are JSON; times are ISO 8601 in UTC; unknown fields are
refused. Every reply carries <code>X-Request-Id</code>.</p>`
}

function navItem({ name }: Described): Html {
  return html`<li><a href="#${name}">${name}</a></li>`
}

function article(described: Described): Html {
  const { name, method, path, operation, fields, example } = described
  return html`
<article id="${name}">
<h3>${name}${operation.deprecated ? html`<span class="tag">deprecated</span>` : html``}</h3>
<p class="route"><span class="verb ${method}">${method}</span>${path}</p>
<p>${prose(operation.summary)} ${prose(operation.guide)}</p>
<p class="quiet">MCP tool <code>asyncgate_${name}</code>. ${scopeText(operation)}</p>
${fields.length > 0 ? fieldTable(fields) : html`<p class="quiet">No parameters.</p>`}
${example ? html`<h4>Example</h4><pre>${curlText(described)}</pre>` : html``}
<details><summary>Reply and errors</summary>
<pre>${JSON.stringify(schemaOf(operation.output, 'output'), null, 2)}</pre>
<p>${described.errors.map((code) => html`<a href="#error-${code}"><code>${code}</code></a>`)}</p>
</details>
</article>`
}

function fieldTable(fields: readonly Field[]): Html {
  const rows = fields.map(
    (
      field,
    ) => html`<tr><td><code>${field.name}</code>${field.required ? html`<span class="tag">required</span>` : html``}</td>
<td>${field.in}</td><td>${typeText(field.schema)}</td><td>${prose(field.description)}${defaultText(field)}</td></tr>`,
  )
  return html`<div class="scroll"><table><thead><tr><th>Field</th><th>In</th><th>Type</th><th></th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function defaultText({ schema, description }: Field): Html {
  if (schema.default === undefined || /default/i.test(description)) return html``
  return html` Default <code>${JSON.stringify(schema.default)}</code>.`
}

function errorTable(): Html {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, retryable, when }]) =>
      html`<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${retryable ? 'yes' : 'no'}</td><td>${when}</td></tr>`,
  )
  return html`
<h2 id="errors">Errors</h2>
<p>One body everywhere: <code>{"error", "message", "retryable", "request_id", …details}</code>. The message says what to
do; <code>retryable</code> whether repeating the same call can help.</p>
<div class="scroll"><table><thead><tr><th>Code</th><th>Status</th><th>Retryable</th><th>When, and what to do</th></tr></thead><tbody>${rows}</tbody></table></div>`
}
