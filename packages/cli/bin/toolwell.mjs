#!/usr/bin/env node
// The script that npm links as `toolwell`. It is plain JavaScript, so that the link works before the first build.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = new URL('../dist/main.js', import.meta.url)
const source = new URL('../src/main.ts', import.meta.url)

// A clone without a build has only sources. Installed packages are always built.
if (!existsSync(main) && existsSync(source)) {
  const { spawnSync } = await import('node:child_process')
  const script = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))
  // Standard output is for the result.
  const build = spawnSync(process.execPath, [script, 'build'], { stdio: ['ignore', 2, 2] })
  if (build.status !== 0) {
    console.error('toolwell: The build failed. Run "npm run build" in the clone and fix the reported errors.')
    process.exit(2)
  }
}
const words = process.argv.slice(2)
// `serve --stdio` loads only what it needs; everything else loads the full command.
const isStdio = words[0] === 'serve' && words.includes('--stdio')
const stdio = new URL('../dist/serve/run-stdio.js', import.meta.url)
if (!isStdio || !(await (await import(stdio.href)).runThin(words))) await import(main.href)
