import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { isLong } from './test/setup/tier.ts'

const packages = new URL('./packages/', import.meta.url)

/** Maps every entry point to its source file, so that stack traces name source lines. `test/pack.long.test.ts` tests the build. */
function mapEntryPoints() {
  return readdirSync(packages).flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(
      readFileSync(new URL(`${folder}/package.json`, packages), 'utf8'),
    ) as { name: string; exports?: Record<string, { default: string }> }
    return Object.entries(exports).map(([entry, { default: built }]) => ({
      find: new RegExp(`^${name}${entry.slice(1)}$`),
      replacement: fileURLToPath(
        new URL(`${folder}/${built.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}`, packages),
      ),
    }))
  })
}

/** Tests of pure code. They share modules within a worker, because nothing they import keeps state. */
const pure = [
  'packages/core/test/**/*.test.ts',
  'packages/testing/test/**/*.test.ts',
  'test/seeds/*.test.ts',
  'examples/**/*.test.ts',
]

/** Exceptions: these touch the process, its globals or other processes, so each file runs in isolation, like all other tests. */
const alone = [
  'packages/core/test/ai-sdk/sdk.test.ts',
  'packages/core/test/hostile/jsonl*.test.ts',
  'packages/core/test/stores/*.test.ts',
  'packages/core/test/usage.test.ts',
  'test/seeds/sf-mcp.test.ts',
  'examples/gateway/*.test.ts',
]

/** These run only in `npm run test:long`; see CONTRIBUTING.md. */
const long = isLong ? [] : ['**/*.long.test.ts']

export default defineConfig({
  resolve: { alias: mapEntryPoints() },
  test: {
    setupFiles: ['./test/setup/loopback-only.ts'],
    // Long, so that only a hanging test fails, and never a busy machine.
    testTimeout: 240_000,
    hookTimeout: 240_000,
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
          // Most of these tests wait for programs that they start.
          maxWorkers: availableParallelism() * 2,
          sequence: { groupOrder: 1 },
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
