/**
 * The transcript: an append-only file with one line per message or event, in the form of its wire. A compaction appends the new
 * start of the history; replaced messages stay in the file. The ledger is stored next to it.
 */
import { appendFile, mkdir, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mode } from './permissions.ts'
import type { WireName } from './wires.ts'

/** Messages on one wire, before the conversation moved to another. */
export interface Part {
  readonly wire: WireName
  readonly messages: readonly object[]
}

export interface Todo {
  readonly text: string
  readonly state: 'open' | 'doing' | 'done'
}

export interface Transcript {
  /** The current history: one part for each wire in turn. The last one grows. */
  readonly parts: readonly Part[]
  readonly mode: Mode
  readonly todos: readonly Todo[]
  /** All messages, including those that a compaction replaced. */
  readonly said: readonly Said[]
  append(...messages: readonly object[]): Promise<void>
  /** Starts a new part, unless the last one is on this wire. */
  moveTo(wire: WireName): Promise<void>
  /** Replaces the current history. */
  replace(part: Part): Promise<void>
  setMode(mode: Mode): Promise<void>
  setTodos(todos: readonly Todo[]): Promise<void>
}

export interface Said {
  readonly wire: WireName
  readonly message: object
}

type Line =
  | ({ readonly type: 'message' } & Said)
  | { readonly type: 'wire'; readonly wire: WireName }
  | ({ readonly type: 'compacted' } & Part)
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }

export function transcriptFile(folder: string, id: string): string {
  return join(folder, `${encodeURIComponent(id)}.transcript`)
}

/** Reads a transcript, or starts one on the given wire. */
export async function openTranscript(folder: string, id: string, wire: WireName): Promise<Transcript> {
  await mkdir(folder, { recursive: true })
  const file = transcriptFile(folder, id)
  const bytes = await readFile(file).catch(() => Buffer.alloc(0))
  // A torn last line was never acknowledged, so it is removed.
  const whole = bytes.lastIndexOf('\n') + 1
  if (whole < bytes.length) await truncate(file, whole)
  const lines = bytes.subarray(0, whole).toString('utf8').split('\n').slice(0, -1)
  const state: State = { parts: [{ wire, messages: [] }], mode: 'ask', todos: [], said: [] }
  lines.forEach((line, index) => {
    follow(state, readLine(line, `${file}, line ${index + 1}`))
  })
  const add = async (...fresh: readonly Line[]) => {
    await appendFile(file, fresh.map((line) => `${JSON.stringify(line)}\n`).join(''))
    for (const line of fresh) follow(state, line)
  }
  if (lines.length === 0) await add({ type: 'wire', wire })
  return Object.assign(state, {
    append: (...messages: readonly object[]) =>
      add(...messages.map((message) => ({ type: 'message' as const, wire: lastOf(state).wire, message }))),
    moveTo: (next: WireName) => add({ type: 'wire', wire: next }),
    replace: (part: Part) => add({ type: 'compacted', ...part }),
    setMode: (mode: Mode) => add({ type: 'mode', mode }),
    setTodos: (todos: readonly Todo[]) => add({ type: 'todos', todos }),
  })
}

/** The growing part. There is always one. */
export function lastOf({ parts }: Pick<Transcript, 'parts'>): Part {
  return parts.at(-1) as Part
}

interface State {
  parts: { readonly wire: WireName; readonly messages: object[] }[]
  mode: Mode
  todos: readonly Todo[]
  said: Said[]
}

function follow(state: State, line: Line): void {
  switch (line.type) {
    case 'message':
      partOf(state, line.wire).messages.push(line.message)
      state.said.push({ wire: line.wire, message: line.message })
      return
    case 'wire':
      partOf(state, line.wire)
      return
    case 'compacted':
      state.parts = [{ wire: line.wire, messages: [...line.messages] }]
      return
    case 'mode':
      state.mode = line.mode
      return
    case 'todos':
      state.todos = line.todos
  }
}

function partOf({ parts }: State, wire: WireName): State['parts'][number] {
  const last = parts.at(-1)
  if (last?.wire === wire) return last
  const fresh = { wire, messages: [] }
  // Drops a part without messages.
  if (last?.messages.length === 0) parts.pop()
  parts.push(fresh)
  return fresh
}

const TYPES: readonly unknown[] = ['message', 'wire', 'compacted', 'mode', 'todos'] satisfies Line['type'][]

function readLine(text: string, place: string): Line {
  let line: Partial<Line> | null
  try {
    line = JSON.parse(text)
  } catch {
    throw new Error(
      `${place}: invalid JSON. The transcript is damaged; delete the line to continue without it.`,
    )
  }
  if (TYPES.includes(line?.type)) return line as Line
  throw new Error(
    `${place}: a line of the type ${JSON.stringify(line?.type)} is not known here. A newer version wrote it, or another program.`,
  )
}
