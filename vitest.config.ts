import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { isLong } from './test/setup/tier.ts'

const packages = new URL('./packages/', import.meta.url)

/** Every door of every package, as its source: a stack trace then names the line that was written. `test/pack.long.test.ts` proves the build. */
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

/** Tests of pure code. A worker runs them one after the other in one set of modules: nothing they import keeps state. */
const pure = [
  'packages/core/test/**/*.test.ts',
  'packages/testing/test/**/*.test.ts',
  'test/seeds/*.test.ts',
  'examples/**/*.test.ts',
]

/** Among those, what touches the process, its globals or other processes: on its own, like all the rest. */
const alone = [
  'packages/core/test/ai-sdk/sdk.test.ts',
  'packages/core/test/hostile/jsonl*.test.ts',
  'packages/core/test/stores/*.test.ts',
  'packages/core/test/usage.test.ts',
  'test/seeds/sf-mcp.test.ts',
  'examples/gateway/*.test.ts',
]

/** Only in `npm run test:long`; CONTRIBUTING.md says what they are. */
const long = isLong ? [] : ['**/*.long.test.ts']

export default defineConfig({
  resolve: { alias: doors() },
  test: {
    setupFiles: ['./test/setup/loopback-only.ts'],
    // For what hangs, not for a machine that is busy.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Many tests wait for programs that they start.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: { name: 'pure', isolate: false, include: pure, exclude: [...alone, ...long] },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [
            'packages/!(core|testing)/test/**/*.test.ts',
            'test/*.test.ts',
            'test/!(seeds)/**/*.test.ts',
            ...alone,
          ],
          exclude: long,
        },
      },
    ],
  },
})
