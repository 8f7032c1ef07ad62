// The look of the server's own pages: plain, readable, light or dark as the reader's system is.
import { Html } from './html.ts'

export const STYLE = new Html(`
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14171c);
  --raised: light-dark(#f5f7f9, #1c2128);
  --line: light-dark(#dde3e9, #303842);
  --text: light-dark(#1b222b, #dfe5ec);
  --quiet: light-dark(#57636f, #98a4b1);
  --accent: light-dark(#0b63b8, #6db3ff);
  --read: light-dark(#16703c, #5fce8d);
  --write: light-dark(#8a4b00, #f0b35e);
  font: 16px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
* { box-sizing: border-box }
html { scroll-behavior: smooth; scroll-padding-top: 1rem }
body { margin: 0; background: var(--ground); color: var(--text) }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
.frame { display: grid; grid-template-columns: 16rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 2rem 1rem 2rem 1.5rem;
  border-right: 1px solid var(--line); font-size: .875rem }
nav h2 { margin: 1.4rem 0 .3rem; font-size: .75rem; color: var(--quiet); text-transform: uppercase; letter-spacing: .06em }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: block; padding: .1rem 0; color: var(--text); overflow-wrap: anywhere }
main { padding: 2rem 2.5rem 6rem; min-width: 0 }
h1 { margin: 0; font-size: 1.9rem; letter-spacing: -.02em }
main h2 { margin: 3.5rem 0 0; padding-bottom: .3rem; border-bottom: 1px solid var(--line) }
article { padding: 1.6rem 0 .4rem; border-bottom: 1px solid var(--line) }
article h3 { margin: 0; font: 600 1.1rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
article h4 { margin: 1.1rem 0 .3rem; font-size: .8rem; color: var(--quiet) }
.quiet { color: var(--quiet) }
.route { margin: .4rem 0 .6rem; font: .9rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.verb { display: inline-block; min-width: 3.2rem; margin-right: .5rem; padding: 0 .45rem; border: 1px solid currentColor;
  border-radius: .3rem; font-weight: 600; font-size: .78rem; text-align: center }
.GET { color: var(--read) }
.POST { color: var(--write) }
.tag { margin-left: .5rem; padding: .05rem .5rem; border-radius: 1rem; background: var(--raised);
  border: 1px solid var(--line); font: .75rem system-ui, sans-serif; color: var(--quiet) }
.scroll { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
th { text-align: left; color: var(--quiet); font-weight: 500 }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
td:first-child { white-space: nowrap }
code, pre { font: .85em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
pre { margin: .4rem 0; padding: .8rem 1rem; overflow-x: auto; background: var(--raised); border: 1px solid var(--line);
  border-radius: .4rem; font-size: .8rem }
summary { cursor: pointer; color: var(--quiet); font-size: .875rem; margin: .6rem 0 }
.card { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }
.card li { margin: .3rem 0 }
@media (max-width: 52rem) {
  .frame { display: block }
  nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line) }
  main { padding: 1.5rem 1.2rem 4rem }
}
@media print { nav { display: none } .frame { display: block } }
`)
