#!/usr/bin/env node
// The file that npm links as `toolwell`. It is committed, so that a clone has the link before its first build.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = new URL('../dist/main.js', import.meta.url)
const source = new URL('../src/main.ts', import.meta.url)

// Only a clone has sources; what is installed has been built.
if (!existsSync(main) && existsSync(source)) {
  const { spawnSync } = await import('node:child_process')
  const script = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))
  // Standard output belongs to the answer.
  const build = spawnSync(process.execPath, [script, 'build'], { stdio: ['ignore', 2, 2] })
  if (build.status !== 0) {
    console.error('toolwell: The build failed. Run "npm run build" in the clone and fix what it reports.')
    process.exit(2)
  }
}
const words = process.argv.slice(2)
// A stdio client of the gateway loads next to nothing; everything else is the command.
const isStdio = words[0] === 'serve' && words.includes('--stdio')
const thin = new URL('../dist/serve/run-stdio.js', import.meta.url)
if (!isStdio || !(await (await import(thin.href)).runThin(words))) await import(main.href)
