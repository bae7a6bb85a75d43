/** Runs the agent as a separate process on the same workspace, which tests may kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentEvent } from '../../../examples/agent/events.ts'
import { guardChildren } from '../../setup/guard-children.ts'
import type { World } from './driver.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
let guard: string | undefined

/** Call this at the top level of a test file that starts the program. */
export function guardPrograms(): void {
  guard = guardChildren()
}

export interface Running {
  readonly child: ChildProcess
  /** The exit code (null after a signal) and every printed event. */
  readonly ended: Promise<{ readonly code: number | null; readonly events: readonly AgentEvent[] }>
}

export function startProgram(world: World, ...words: readonly string[]): Running {
  const { workspace, wire, seed, urls } = world
  const own = [
    '--workspace',
    workspace,
    '--servers',
    join(workspace, 'toolwell.json'),
    '--mode',
    'auto',
    '--json',
  ]
  const there = ['--wire', wire, '--url', urls[wire], '--model', 'scripted', '--surface', seed.surface]
  const folders = ['CACHE', 'DATA', 'STATE', 'CONFIG'].map((name) => [
    `XDG_${name}_HOME`,
    join(workspace, '.home'),
  ])
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'examples/agent/main.ts', ...own, ...there, ...words],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...Object.fromEntries(folders), ...(guard ? { NODE_OPTIONS: guard } : {}) },
    },
  )
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve)).then((code) => ({
    code,
    events: output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as AgentEvent),
  }))
  return { child, ended }
}
