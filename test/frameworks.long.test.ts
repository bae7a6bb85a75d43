/** The programs of examples/ for other frameworks, with packages from npm: each compiles, runs, and survives calls by unknown names. */

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anthropicProtocol, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  isHere,
  type ProgramName,
  programs,
  readProgram,
  readVariants,
  runProgram,
} from '../examples/scripted.ts'
import { installed, programFolder } from './setup/framework-folder.ts'
import { guardChildren } from './setup/guard-children.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guard = guardChildren()

/** The program of LangChain with the lines for Anthropic that its guide shows. */
function forAnthropic(program: string): string {
  const page = readFileSync(join(root, 'docs/guides/langchain.md'), 'utf8')
  const [, block = ''] = /^On Anthropic[^`]*```typescript\n([\s\S]*?)^```/m.exec(page) ?? []
  const lines = block.split('\n').filter(Boolean)
  const alike = (line: string) => lines.find((other) => other.slice(0, 10) === line.slice(0, 10))
  const changed = program.split('\n').map((line) => alike(line) ?? line)
  expect(changed.filter((line) => lines.includes(line))).toEqual(lines)
  return changed.join('\n')
}

const invented = [
  { name: 'fly_to_moon', arguments: {} },
  { name: 'print_invoice', arguments: { number: 9 } },
]
const hard: readonly ScriptedReply[] = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'billing__send_invoice', arguments: { number: 7 } }] },
  { calls: invented },
  { text: 'Invoice 7 is on its way.' },
  { calls: [{ name: 'billing__send_invoice', arguments: { number: 8 } }] },
  { text: 'Invoice 8 is on its way.' },
]

interface Body {
  readonly tools?: unknown
  readonly input?: unknown
  readonly messages?: unknown
  readonly contents?: unknown
}

const cases = (Object.keys(programs) as ProgramName[]).flatMap((name) =>
  readVariants(readProgram(name))
    .filter((packages) => !isHere(packages))
    .map((packages) => ({ name, packages })),
)

describe.each(cases)('$name with $packages.0', ({ name, packages }) => {
  const limit = { timeout: 900_000 }

  it('compiles', limit, () => {
    const options = { strict: true, noEmit: true, skipLibCheck: true, target: 'es2022', module: 'nodenext' }
    const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }
    const config = { compilerOptions: { ...options, ...types }, files: ['main.ts'] }
    const folder = programFolder(installed(packages), {
      'main.ts': readProgram(name),
      'tsconfig.json': JSON.stringify(config),
    })
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    expect(spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout).toBe('')
  })

  it('runs, and its requests are right', limit, async () => {
    await runProgram(name, packages, { env: { ...process.env, NODE_OPTIONS: guard } })
  })

  // The Claude Agent SDK writes its own requests and has its own answers for unknown names.
  if (name === 'claude-agent-sdk') return
  const variants: readonly {
    readonly wire: string
    readonly change?: Partial<Parameters<typeof runProgram>[2]>
  }[] = [
    { wire: 'its own protocol' },
    ...(name === 'langchain'
      ? [{ wire: 'Anthropic Messages', change: { text: forAnthropic, protocol: anthropicProtocol } }]
      : []),
  ]
  it.each(variants)('survives calls by names that nobody has, on $wire', limit, async ({ change }) => {
    const { output, requests } = await runProgram(name, packages, {
      env: { ...process.env, NODE_OPTIONS: guard },
      model: hard,
      ...change,
    })
    const hasSecond = output.includes('Invoice 8 is on its way.')
    const bodies = requests.map(({ body }) => body as Body)
    expect(bodies).toHaveLength(hasSecond ? 6 : 4)
    const tools = bodies.map((body) => JSON.stringify(body.tools))
    expect(tools[0]).toContain('tool_search')
    expect(tools[0]).not.toContain('"name":"billing__send_invoice"')
    expect(new Set(tools).size).toBe(1)
    const said = bodies.map(({ input, messages, contents }) =>
      JSON.stringify(input ?? messages ?? contents).slice(0, -1),
    )
    for (const [index, text] of said.slice(1).entries()) expect(text.startsWith(said[index] ?? '')).toBe(true)
    expect(said[2]).toContain('invoice 7: send done')
    expect(said[3]).toContain('Found no tool named')
    expect(said[3]).toContain('fly_to_moon')
    expect(said[3]).toContain('invoice 9: print done')
  })
})
