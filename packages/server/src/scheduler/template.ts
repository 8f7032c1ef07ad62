// Templates: {{now}}, {{run_at}} and {{schedule_id}} in any text of a payload. Other braces are the payload's own business.

export interface TemplateWords {
  readonly now: string
  readonly run_at: string
  readonly schedule_id: string
}

const WORD = /\{\{\s*(now|run_at|schedule_id)\s*\}\}/g

/** The names of members stay as they are. */
export function render<T>(template: T, words: TemplateWords): T {
  return rendered(template, words) as T // texts for texts, and everything else as it was
}

function rendered(value: unknown, words: TemplateWords): unknown {
  if (typeof value === 'string')
    return value.replaceAll(WORD, (_whole, word: keyof TemplateWords) => words[word])
  if (Array.isArray(value)) return value.map((member) => rendered(member, words))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rendered(member, words)]))
}
