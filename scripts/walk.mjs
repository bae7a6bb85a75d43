// `npm run walk`: counts and lists the files of core that one request of the README program enters. It runs the built
// core with a probe at the start of every function.
import { register } from 'node:module'

register('./walk-hooks.mjs', import.meta.url)

/** Functions that begin a step. Work done while modules load comes before the first step and does not count. */
const STEPS = {
  'toolwell.js createToolwell': () => 'createToolwell',
  'conversation.js openConversation': () => 'open',
  'adapters/openai-chat/index.js openaiChat': () => 'openaiChat',
  'toolwell.js report': () => 'report',
  'adapters/shared/adapter.js begin': (count) => `begin ${count}`,
  'adapters/shared/adapter.js run': (count) => `run ${count}`,
}
const FRONT = new Set(['toolwell.js', 'index.js', 'settings.js'])

const steps = []
const counts = new Map()
const callsToFront = new Set()

globalThis.walked = (file, name) => {
  const step = STEPS[`${file} ${name}`]
  if (step) {
    const count = (counts.get(step) ?? 0) + 1
    counts.set(step, count)
    steps.push({ name: step(count), files: new Set() })
  }
  const current = steps.at(-1)
  if (!current) return
  if (steps.length > 1 && current.name !== 'report' && FRONT.has(file)) callsToFront.add(`${file} ${name}`)
  current.files.add(file.replace(/\.js$/, '.ts'))
}

const { log } = console
console.log = () => undefined
await import('../examples/minimal.ts')
console.log = log
globalThis.walked = undefined

const all = [...new Set(steps.flatMap(({ files }) => [...files]))]
if (process.argv.includes('--json')) {
  const perStep = steps.map(({ name, files }) => ({ step: name, files: [...files] }))
  console.log(JSON.stringify({ files: all, steps: perStep, callsToFront: [...callsToFront] }))
} else {
  const seen = new Set()
  for (const { name, files } of steps) {
    const first = [...files].filter((file) => !seen.has(file))
    for (const file of first) seen.add(file)
    console.log(`${name}: ${files.size} files, ${first.length} of them new`)
    for (const file of first) console.log(`  ${file}`)
  }
  console.log(`\n${all.length} files in all`)
}
