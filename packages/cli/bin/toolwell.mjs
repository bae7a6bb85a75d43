#!/usr/bin/env node
// The file that npm links as `toolwell`. It is committed, so that a clone has the link before its first build.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = new URL('../dist/main.js', import.meta.url)
const source = new URL('../src/main.ts', import.meta.url)

// Only a clone has sources; what is installed has been built.
if (!existsSync(main) && existsSync(source)) {
  const script = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))
  // Standard output belongs to the answer.
  const build = spawnSync(process.execPath, [script, 'build'], { stdio: ['ignore', 2, 2] })
  if (build.status !== 0) {
    console.error('toolwell: The build failed. Run "npm run build" in the clone and fix what it reports.')
    process.exit(2)
  }
}
await import(main.href)
