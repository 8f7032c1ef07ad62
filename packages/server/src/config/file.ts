// The YAML file: read with its line numbers, so that an error says where to look.
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { findKey, isSection, KEYS } from './keys.ts'
import { didYouMean } from './nearest.ts'
import type { Problem } from './problem.ts'
import type { Reading, Setting } from './setting.ts'

// Loaded where there is a file to read: most commands have none, and would start a tenth later.
const yaml = () => createRequire(import.meta.url)('yaml') as typeof Yaml

interface YamlFile {
  readonly text: string
  readonly name: string
}

export function readYaml(file: YamlFile): Reading {
  const { document, at, problems } = parseFile(file)
  if (problems.length > 0) return { settings: [], problems }
  const walk: Walk = { settings: [], problems: [], document, at }
  if (document.contents) readNode(document.contents, [], walk)
  return walk
}

/** Any other file that people write, JSON among them; no value where there are problems. */
export function parseYaml(file: YamlFile): { value: unknown; problems: readonly Problem[] } {
  const { document, problems } = parseFile(file)
  return { value: problems.length > 0 ? undefined : document.toJS(), problems }
}

function parseFile({ text, name }: YamlFile) {
  const { LineCounter, parseDocument } = yaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number) => `${name}:${lines.linePos(offset).line}`
  const problems = document.errors.map((error) => ({ where: at(error.pos[0]), message: `${error.message}.` }))
  return { document, at, problems }
}

interface Walk {
  readonly settings: Setting[]
  readonly problems: Problem[]
  readonly document: Yaml.Document.Parsed
  readonly at: (offset: number) => string
}

function readNode(node: Yaml.ParsedNode, path: readonly string[], walk: Walk): void {
  const { isMap, isScalar } = yaml()
  if (isScalar(node) && node.value === null) return // `lease:` with nothing below it
  const where = walk.at(node.range[0])
  if (!isMap(node)) {
    const what = path.length === 0 ? 'The file' : `${path.join('.')} is a section: it`
    walk.problems.push({ where, message: `${what} must hold "key: value" lines.` })
    return
  }
  for (const { key, value } of node.items) {
    const name = [...path, isScalar(key) ? String(key.value) : '?'].join('.')
    readMember({ name, value, where: walk.at(key.range[0]) }, walk)
  }
}

function readMember(
  member: { name: string; value: Yaml.ParsedNode | null; where: string },
  walk: Walk,
): void {
  const { name, value, where } = member
  const key = findKey(name)
  if (key) {
    walk.settings.push({ key, value: value?.toJS(walk.document) ?? null, origin: { source: 'file', where } })
  } else if (isSection(name)) {
    if (value !== null) readNode(value, name.split('.'), walk)
  } else {
    const hint = didYouMean(
      name,
      KEYS.map((known) => known.name),
    )
    const remedy = hint || ' "asyncgate config" lists every key.'
    walk.problems.push({ where, message: `There is no key ${name}.${remedy}` })
  }
}
