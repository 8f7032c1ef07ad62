// What this server is called as a resource (RFC 8707), and where it says so (RFC 9728): as a whole, and its MCP address.

const METADATA_PATH = '/.well-known/oauth-protected-resource'

export function resourcesOf(issuer: string): readonly [whole: string, mcp: string] {
  return [issuer, `${issuer}/mcp`]
}

export function metadataPath(resource: string, issuer: string): string {
  return METADATA_PATH + resource.slice(issuer.length)
}

/** Where the metadata of what was asked for is. */
export function metadataUrl(path: string, issuer: string): string {
  const [whole, mcp] = resourcesOf(issuer)
  return issuer + metadataPath(path === '/mcp' ? mcp : whole, issuer)
}
