/**
 * `npm run docs`: writes the API pages from the types, builds the site of docs/.vitepress into site/ and checks it.
 * `-- --serve` shows the site afterwards.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'

const root = fileURLToPath(new URL('..', import.meta.url))
const site = join(root, 'site')
/** Imported without its types, because they would bring those of a browser into every file that tsc checks. */
const vitepress = 'vitepress'
const { build, serve } = (await import(vitepress)) as {
  build(root: string): Promise<void>
  serve(options: { readonly root: string; readonly port: number }): Promise<void>
}
const PORT = 4173
const isServed = process.argv.includes('--serve')
const unknown = process.argv.slice(2).find((word) => word !== '--serve')
if (unknown !== undefined) {
  console.error(`Unknown option ${JSON.stringify(unknown)}. Use: npm run docs [-- --serve]`)
  process.exit(2)
}

interface EntryPoint {
  /** As hosts import it, such as `@toolwell/core/anthropic`. */
  readonly name: string
  readonly source: string
}

function listEntryPoints(): EntryPoint[] {
  const packages = join(root, 'packages')
  return readdirSync(packages).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly exports?: Readonly<Record<string, { readonly types?: string } | string>>
    }
    return Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
      typeof target === 'string' || target.types === undefined || path.includes('internal')
        ? []
        : [
            {
              name: posix.join(manifest.name, path),
              source: join(packages, folder, target.types.replace('./dist/', 'src/').replace('.d.ts', '.ts')),
            },
          ],
    )
  })
}

/** Writes one page for each entry point into docs/api. */
async function writeApi(): Promise<void> {
  const folder = join(root, 'docs/api')
  rmSync(folder, { recursive: true, force: true })
  const entryPoints = listEntryPoints()
  const application = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: entryPoints.map(({ source }) => source),
    out: folder,
    tsconfig: join(root, 'tsconfig.docs.json'),
    // `npm run check` reads each package with its own settings.
    skipErrorChecking: true,
    basePath: root,
    readme: 'none',
    excludeInternal: true,
    disableSources: true,
    logLevel: 'Error',
    // Options of the plugin, which TypeDoc's types do not know.
    ...({
      router: 'module',
      entryFileName: 'index',
      hidePageHeader: true,
      hideBreadcrumbs: true,
      useCodeBlocks: true,
      useHTMLAnchors: true,
      parametersFormat: 'table',
      propertiesFormat: 'table',
      interfacePropertiesFormat: 'table',
    } as object),
  })
  const project = await application.convert()
  if (!project) throw new Error('TypeDoc could not read the sources. Run npm run check.')
  // TypeDoc names a module after its file. A page is named as the entry point is imported.
  const names = new Map(
    entryPoints.map(({ name, source }) => [
      posix
        .relative(root.replaceAll('\\', '/'), source.replaceAll('\\', '/'))
        .replace(/(?:\/index)?\.ts$/, ''),
      name,
    ]),
  )
  for (const module of project.children ?? [])
    module.name = names.get(module.name.replace(/\/index$/, '')) ?? module.name
  await application.generateOutputs(project)
}

interface Page {
  readonly text: string
  readonly ids: ReadonlySet<string>
  /** Relative links start here. */
  readonly folder: string
}

/** Reads the built pages by their path on the site, such as `/guides/anthropic`. */
function readPages(): Map<string, Page> {
  const pages = new Map<string, Page>()
  for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' })) {
    const path = name.replaceAll('\\', '/')
    if (!path.endsWith('.html') || path === '404.html') continue
    const text = readFileSync(join(site, name), 'utf8')
    const ids = new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id))
    pages.set(`/${path.replace(/(?:^|\/)index\.html$|\.html$/, '')}`, {
      text,
      ids,
      folder: `/${posix.dirname(path)}`,
    })
  }
  return pages
}

/** Finds links to pages or headings that do not exist, and everything that a browser would load from elsewhere. */
function listFaults(pages: ReadonlyMap<string, Page>): string[] {
  const faults: string[] = []
  for (const [path, { text }] of pages) {
    for (const [, href = ''] of text.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      if (/^(?:https?:|mailto:)/.test(href)) continue
      const [to = '', anchor] = href.replaceAll('&amp;', '&').split('#')
      const target =
        to === '' ? path : posix.resolve(pages.get(path)?.folder ?? '/', to.replace(/\.html$/, ''))
      const page = pages.get(decodeURI(target))
      if (!page) faults.push(`${path}: ${href} leads nowhere`)
      else if (anchor && !page.ids.has(decodeURIComponent(anchor)))
        faults.push(`${path}: no heading has the id of ${href}`)
    }
    if (/\{\{ ?[a-z]/.test(text.replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, '')))
      faults.push(`${path}: braces that Vue should have replaced`)
    for (const [tag] of text.matchAll(
      /<(?:script|link|img|iframe)\b[^>]*\s(?:src|href)="(?:https?:)?\/\/[^>]*>/g,
    ))
      faults.push(`${path}: loads from elsewhere: ${tag}`)
  }
  for (const name of readdirSync(join(site, 'assets')).filter((name) => name.endsWith('.css')))
    for (const [url] of readFileSync(join(site, 'assets', name), 'utf8').matchAll(
      /url\(["']?https?:[^)]*\)/g,
    ))
      faults.push(`assets/${name}: loads from elsewhere: ${url}`)
  return faults
}

console.error('Writing the API pages …')
await writeApi()
console.error('Building the site (about half a minute) …')
await build(join(root, 'docs'))
const pages = readPages()
const faults = listFaults(pages)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exit(1)
console.log(`${pages.size} pages in site/. Every link leads somewhere, and nothing is loaded from elsewhere.`)
if (isServed) {
  await serve({ root: join(root, 'docs'), port: PORT })
  console.log(`Read it at http://localhost:${PORT}. Ctrl-C ends it.`)
} else console.log('To read it: npm run docs -- --serve')
