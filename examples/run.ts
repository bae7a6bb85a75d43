/**
 * `npm run examples`: runs every self-checking example. Examples named on the command line show their output; `--json` prints
 * nothing else.
 */
import { spawnSync } from 'node:child_process'

const examples = [
  { name: 'the gateway', file: 'gateway.ts', parameters: ['--once'] },
  { name: 'proof with the defaults', file: 'proof.ts', parameters: ['--once'] },
  { name: 'proof over append', file: 'proof.ts', parameters: ['--once', '--delivery', 'append'] },
  { name: 'the README program', file: 'minimal.ts', parameters: [] },
  { name: 'Anthropic Messages', file: 'anthropic.ts', parameters: [] },
  { name: 'OpenAI Responses', file: 'openai-responses.ts', parameters: [] },
  { name: 'Chat Completions', file: 'openai-chat.ts', parameters: [] },
  { name: 'Gemini', file: 'google.ts', parameters: [] },
  { name: 'AI SDK', file: 'ai-sdk.ts', parameters: [] },
  { name: 'a wire of your own', file: 'own-wire.ts', parameters: [] },
  { name: 'the seeds, side by side', file: 'seeds.ts', parameters: [] },
]

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'))
const json = flags.includes('--json')
const chosen = examples.filter(({ file }) => wanted.length === 0 || wanted.includes(file.replace('.ts', '')))
if (chosen.length === 0 || flags.some((flag) => flag !== '--json') || (json && wanted.join() !== 'seeds')) {
  const known = [...new Set(examples.map(({ file }) => file.replace('.ts', '')))]
  process.stderr.write(
    `Usage: npm run examples [-- NAME …]\n       npm run -s examples -- seeds --json\n\nNames: ${known.join(', ')}\n`,
  )
  process.exit(flags.includes('--help') ? 0 : 2)
}

let failed = 0
for (const { name, file, parameters } of chosen) {
  const script = new URL(`./${file}`, import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', script, ...parameters, ...flags],
    {
      encoding: 'utf8',
    },
  )
  if (!json) process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}\n`)
  if (status === 0 && wanted.length === 0) continue
  if (status !== 0) failed++
  process.stdout.write(json ? stdout : `${stdout}\n`)
  process.stderr.write(stderr)
}
process.exitCode = failed === 0 ? 0 : 1
