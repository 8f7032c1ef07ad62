// RFC 8785 canonical JSON: the one text of a value, whatever the order of its keys. Receipt hashes are taken
// over it, so that anyone can recompute them in any language.

/** ECMAScript's own number and string serialisation is what RFC 8785 prescribes; only key order is ours. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  // RFC 8785 sorts by UTF-16 code units, which is what comparing JavaScript strings does.
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}
