// The look of the pages for signing in: one card, light or dark as the reader's system is.
import { Html } from '../html.ts'

export const STYLE = new Html(`
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f7f9, #14171c);
  --card: light-dark(#ffffff, #1c2128);
  --line: light-dark(#c9d2db, #414b57);
  --text: light-dark(#1b222b, #dfe5ec);
  --quiet: light-dark(#57636f, #98a4b1);
  --accent: light-dark(#0b63b8, #6db3ff);
  --on-accent: light-dark(#ffffff, #10151b);
  --alert: light-dark(#a3151f, #ff9aa2);
  font: 16px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--text) }
main { width: 100%; max-width: 27rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere }
p, ul { margin: .6rem 0 }
ul { padding-left: 1.2rem }
.who, .host, li { overflow-wrap: anywhere }
.quiet, .hint { color: var(--quiet) }
.hint { margin: .25rem 0 0; font-size: .875rem }
.alert { padding: .6rem .8rem; border: 1px solid currentColor; border-radius: .5rem; color: var(--alert) }
code { font: .8em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--quiet) }
label { display: block; margin: 1rem 0 .3rem; font-weight: 600 }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem }
button { width: 100%; min-height: 2.75rem; margin-top: 1rem; padding: .5rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem; cursor: pointer }
button.plain { margin-top: .6rem; color: var(--accent); background: transparent }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`)
