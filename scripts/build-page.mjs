// Bundles the dashboard into packages/dashboard/dist/built: index.html, and hashed files in assets.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'packages/dashboard/src/page')
const built = join(root, 'packages/dashboard/dist/built')
// Without files of earlier builds, whose names have other hashes.
rmSync(built, { recursive: true, force: true })
mkdirSync(built, { recursive: true })
const { metafile } = await build({
  entryPoints: { page: join(source, 'main.tsx'), style: join(source, 'styles/index.css') },
  outdir: join(built, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  metafile: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  target: ['chrome123', 'firefox121', 'safari17.5'],
  logLevel: 'warning',
})
const outputs = Object.entries(metafile.outputs)
const nameOf = (entry) => basename(outputs.find(([, { entryPoint }]) => entryPoint?.endsWith(entry))[0])
writeFileSync(
  join(built, 'index.html'),
  readFileSync(join(source, 'index.html'), 'utf8')
    .replace('page.js', nameOf('main.tsx'))
    .replace('style.css', nameOf('index.css')),
)
copyFileSync(join(source, 'icon.svg'), join(built, 'icon.svg'))
// The bundle contains these packages, whose licence must travel with them.
const licences = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'].map(
  (name) => `${name}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`,
)
writeFileSync(join(built, 'licences.txt'), licences.join('\n'))
