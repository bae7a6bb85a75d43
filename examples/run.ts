/** `npm run examples`: runs every example that checks itself. */
import { spawnSync } from 'node:child_process'

const examples = [
  { name: 'proof over the bridge', file: 'start.ts', parameters: ['--once'] },
  { name: 'proof over append', file: 'start.ts', parameters: ['--once', '--delivery', 'append'] },
  { name: 'the README program', file: 'minimal.ts', parameters: [] },
  { name: 'Anthropic Messages', file: 'anthropic.ts', parameters: [] },
  { name: 'OpenAI Responses', file: 'openai-responses.ts', parameters: [] },
  { name: 'Gemini', file: 'google.ts', parameters: [] },
]

let failed = 0
for (const { name, file, parameters } of examples) {
  const script = new URL(`./${file}`, import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, ...parameters], {
    encoding: 'utf8',
  })
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}\n`)
  if (status === 0) continue
  failed++
  process.stdout.write(`${stdout}${stderr}\n`)
}
process.exitCode = failed === 0 ? 0 : 1
