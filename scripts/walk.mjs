// `npm run walk`: prints the files that the README program visits, in order, by folder. It runs the built core with a hook
// at the start of every function. --write updates docs/design.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'

register('./walk-hooks.mjs', import.meta.url)

/** The last call of the program, which goes to the front door. */
const REPORT = 'report'

/** Functions that start a step. Work at module load comes before the first step and does not count. */
const STEPS = {
  'toolwell.js createToolwell': () => 'createToolwell',
  'conversation.js openConversation': () => 'open',
  'adapters/openai-chat/index.js openaiChat': () => 'openaiChat',
  'toolwell.js report': () => REPORT,
  'adapters/shared/adapter.js begin': (count) => `begin, request ${count}`,
  'adapters/shared/adapter.js run': (count) => `run, ${['the search', 'the call', 'the answer'][count - 1]}`,
}
const FRONT_DOOR = new Set(['toolwell.js', 'index.js', 'settings.js'])

const steps = []
const seen = new Set()
const counts = new Map()
const backUp = []

globalThis.walked = (file, name) => {
  const step = STEPS[`${file} ${name}`]
  if (step) {
    const count = (counts.get(step) ?? 0) + 1
    counts.set(step, count)
    steps.push({ name: step(count), files: [] })
  }
  if (steps.length === 0) return
  if (steps.length > 1 && steps.at(-1).name !== REPORT && FRONT_DOOR.has(file)) backUp.push(`${file} ${name}`)
  if (seen.has(file)) return
  seen.add(file)
  steps.at(-1).files.push(file.replace(/\.js$/, '.ts'))
}

const { log } = console
console.log = () => undefined
await import('../examples/minimal.ts')
console.log = log
globalThis.walked = undefined

const folderOf = (file) => (file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '(front)')
const lines = []
const width = Math.max(...[...seen].map((file) => folderOf(file).length))
for (const { name, files } of steps) {
  if (files.length === 0) continue
  lines.push(name)
  for (const [index, file] of files.entries()) {
    const folder = folderOf(file)
    const again = index > 0 && folderOf(files[index - 1]) === folder
    lines.push(`  ${(again ? '' : folder).padEnd(width)}  ${file.slice(file.lastIndexOf('/') + 1)}`)
  }
}
const folders = new Map()
for (const file of [...seen].map((each) => each.replace(/\.js$/, '.ts')))
  folders.set(folderOf(file), (folders.get(folderOf(file)) ?? 0) + 1)
lines.push('', `${seen.size} files in ${folders.size} folders`)
for (const [folder, count] of folders) lines.push(`  ${folder.padEnd(width)}  ${count}`)
lines.push(
  '',
  backUp.length === 0
    ? 'No call goes back up to the front door once a conversation is open.'
    : `Calls back up to the front door: ${[...new Set(backUp)].join(', ')}.`,
)

const page = fileURLToPath(new URL('../docs/design.md', import.meta.url))
if (process.argv.includes('--write')) {
  const text = readFileSync(page, 'utf8')
  const block = `<!-- walk -->\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n\n<!-- end -->`
  writeFileSync(
    page,
    text.replace(/<!-- walk -->[\s\S]*?<!-- end -->/, () => block),
  )
} else {
  process.stdout.write(`${lines.join('\n')}\n`)
}
process.exitCode = backUp.length === 0 ? 0 : 1
