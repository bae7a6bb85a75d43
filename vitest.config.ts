import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const packages = new URL('./packages/', import.meta.url)

/** Every door of every package, as its source: a stack trace then names the line that was written. `test/pack.test.ts` proves the build. */
function doors() {
  return readdirSync(packages).flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(
      readFileSync(new URL(`${folder}/package.json`, packages), 'utf8'),
    ) as { name: string; exports?: Record<string, { default: string }> }
    return Object.entries(exports).map(([door, { default: built }]) => ({
      find: new RegExp(`^${name}${door.slice(1)}$`),
      replacement: fileURLToPath(
        new URL(`${folder}/${built.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}`, packages),
      ),
    }))
  })
}

export default defineConfig({
  resolve: { alias: doors() },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    setupFiles: ['./test/setup/loopback-only.ts'],
    testTimeout: 30_000,
    // Many tests wait for programs that they start.
    maxWorkers: '100%',
  },
})
