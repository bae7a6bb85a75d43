/**
 * The documentation site. Its sidebar is docs/README.md, so both list the same pages. scripts/docs.ts writes the API pages,
 * builds the site and checks it.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress'

type Item = DefaultTheme.SidebarItem
type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

const docs = fileURLToPath(new URL('..', import.meta.url))

const readPage = (page: string) => readFileSync(join(docs, page), 'utf8')

/** The first heading of a page. */
const readTitle = (page: string) => /^# (.*)$/m.exec(readPage(page))?.[1]?.replace(/[`\\]/g, '') ?? page

function listPages(folder: string): string[] {
  return readdirSync(join(docs, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .sort()
}

function createItem(page: string): Item {
  return { text: readTitle(page), link: `/${page.replace(/\.md$/, '')}` }
}

/** Builds the sidebar: each bold line of docs/README.md is a group, each row of its table a group within it. */
function readSidebar(): Item[] {
  const groups: (Item & { items: Item[] })[] = []
  for (const line of readPage('README.md').split('\n')) {
    const [, heading] = /^\*\*([^*]+)\*\*/.exec(line) ?? []
    if (heading) groups.push({ text: heading, collapsed: heading === 'Compatibility', items: [] })
    const items = [...line.matchAll(/\]\(([\w/-]+)(?:\.md)?\)/g)].flatMap(([, path = '']) =>
      (existsSync(join(docs, `${path}.md`)) ? [`${path}.md`] : listPages(path)).map(createItem),
    )
    const [, row] = /^\| ([^|]+) \|/.exec(line) ?? []
    if (row && items.length > 1) groups.at(-1)?.items.push({ text: row, collapsed: true, items })
    else groups.at(-1)?.items.push(...items)
  }
  const api = isFolder('api') ? listPages('api').filter((page) => page !== 'api/index.md') : []
  return [...groups, { text: 'API, from the types', collapsed: true, items: api.map(createItem) }]
}

/** Turns links to files that are not pages into plain text, because the site contains docs/ alone. */
function keepLinksInside(markdown: Markdown): void {
  markdown.core.ruler.push('links-inside', ({ tokens, env }) => {
    const folder = posix.dirname(String(env.relativePath))
    for (const { children } of tokens)
      for (const [index, token] of (children ?? []).entries()) {
        const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : ''
        if (href === '' || /^(?:\w+:|#|\/)/.test(href)) continue
        const [path = ''] = href.split('#')
        const target = posix.join(folder, decodeURI(path))
        const isInside = !target.startsWith('..')
        if (isInside && target.endsWith('.md')) continue
        const [page] = isInside && isFolder(target) ? listPages(target) : []
        if (page) token.attrSet('href', `/${page}`)
        const end = children?.find((each, at) => at > index && each.type === 'link_close')
        if (page || !end) continue
        token.tag = 'span'
        end.tag = 'span'
        token.attrs = [['title', `${posix.join('docs', target)} in the repository`]]
      }
  })
}

/** The id of a heading, as GitHub builds it, so that a link works in both places. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

/** Escapes braces in text and inline code, such as {{name}}, because Vue would evaluate them. */
function escapeBraces({ renderer: { rules } }: Markdown): void {
  for (const kind of ['text', 'code_inline']) {
    const render = rules[kind]
    if (render) rules[kind] = (...values) => render(...values).replaceAll('{{', '&#123;&#123;')
  }
}

const isFolder = (path: string) => existsSync(join(docs, path)) && statSync(join(docs, path)).isDirectory()

export default defineConfig({
  title: 'Toolwell',
  description: 'Keep every tool in reach, and send the model only the ones it needs.',
  lang: 'en-GB',
  // Without an icon, a browser asks for one and gets 404.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcExclude: ['README.md', 'samples/**'],
  outDir: '../site',
  cleanUrls: true,
  markdown: {
    config(markdown) {
      keepLinksInside(markdown)
      escapeBraces(markdown)
    },
    anchor: { slugify },
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  vite: { logLevel: 'error' },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start/first-loop', activeMatch: '/start/' },
      { text: 'Guides', link: '/guides/choose-eager-tools', activeMatch: '/guides/' },
      { text: 'Concepts', link: '/concepts/how-a-request-is-built', activeMatch: '/concepts/' },
      { text: 'Reference', link: '/reference/options', activeMatch: '/(?:reference|api)/' },
    ],
    sidebar: readSidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
})
