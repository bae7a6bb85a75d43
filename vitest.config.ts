import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const core = (file: string) => fileURLToPath(new URL(`./packages/core/src/${file}`, import.meta.url))
const mcp = (file: string) => fileURLToPath(new URL(`./packages/mcp/src/${file}`, import.meta.url))

// Tests run on the sources, so a stack trace names the line that was written; `test/pack.test.ts` proves the build.
export default defineConfig({
  resolve: {
    alias: {
      '@toolwell/core/adapter': core('adapters/index.ts'),
      '@toolwell/core/ai-sdk': core('adapters/ai-sdk/index.ts'),
      '@toolwell/core/anthropic': core('adapters/anthropic/index.ts'),
      '@toolwell/core/google': core('adapters/google/index.ts'),
      '@toolwell/core/openai-chat': core('adapters/openai-chat/index.ts'),
      '@toolwell/core/openai-responses': core('adapters/openai-responses/index.ts'),
      '@toolwell/core/presets': core('presets/index.ts'),
      '@toolwell/core/shared': core('shared.ts'),
      '@toolwell/core/stores/jsonl': core('stores/jsonl.ts'),
      '@toolwell/core/testing': core('testing/index.ts'),
      '@toolwell/core': core('index.ts'),
      '@toolwell/mcp/internal': mcp('internal.ts'),
      '@toolwell/mcp/lock': mcp('trust/lock/index.ts'),
      '@toolwell/mcp/scan': mcp('scan/index.ts'),
      '@toolwell/mcp': mcp('index.ts'),
    },
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    setupFiles: ['./test/setup/loopback-only.ts'],
    testTimeout: 30_000,
    // Many tests wait for programs that they start.
    maxWorkers: '100%',
  },
})
