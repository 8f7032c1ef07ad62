// Small pieces of text for people: safe, short, relative.
import { type InspectColor, styleText, stripVTControlCharacters } from 'node:util'

export type Paint = (style: InspectColor | InspectColor[], text: string) => string

export function painter(colour: boolean): Paint {
  return (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
}

/** Text that others wrote may hold escape sequences; on a terminal those are commands, so none is passed on. */
export function safe(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** As `safe`, but lines stay lines. */
export function safeLines(text: string): string {
  return text.split('\n').map(safe).join('\n')
}

let segmenter: Intl.Segmenter | undefined

/** As a reader counts them: an accent or the parts of an emoji are no characters of their own. */
function charactersOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter() // late: to make one takes 20 ms
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

export function lengthOf(text: string): number {
  return charactersOf(text).length
}

export function truncate(text: string, width: number): string {
  const characters = charactersOf(text)
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** 90 s → `1m 30s`; two units are enough for anyone. */
export function duration(seconds: number): string {
  let left = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    if (left < size && !(unit === 's' && parts.length === 0)) continue
    parts.push(`${Math.floor(left / size)}${unit}`)
    left %= size
  }
  return parts.slice(0, 2).join(' ')
}

/** `3m ago`, `in 20s`, `now`. */
export function relativeTime(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1_000
  if (Number.isNaN(seconds)) return safe(iso)
  if (Math.abs(seconds) < 1) return 'now'
  return seconds < 0 ? `${shortDuration(-seconds)} ago` : `in ${shortDuration(seconds)}`
}

function shortDuration(seconds: number): string {
  return duration(seconds).split(' ')[0]!
}

/** Wraps at spaces; `indent` stands before every line but the first. */
export function wrap(text: string, { width, indent = '' }: { width: number; indent?: string }): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join(`\n${indent}`)
}
