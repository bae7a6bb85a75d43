/** The tasks, the deterministic servers behind them, and the judge. No model judges. */
import { readFileSync } from 'node:fs'

export interface ExpectedCall {
  /** `server/tool`. Several names: any of them does. */
  readonly tool: string | readonly string[]
  /**
   * Arguments that the call must have; others may be added. A text that begins with `~` must be contained, ignoring case. Other
   * texts must be equal, ignoring case, outer spaces and slashes at the end.
   */
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
}

export interface Task {
  readonly id: string
  readonly prompt: string
  readonly calls: readonly ExpectedCall[]
  /** Tools that may be called too, for example to look something up first. */
  readonly also?: readonly string[]
  /** Texts that the answer must contain, ignoring case. */
  readonly answer?: readonly string[]
}

export function loadTasks(): Task[] {
  const text = readFileSync(new URL('tasks.jsonl', import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Task)
}

export const toolsOf = ({ tool }: ExpectedCall): readonly string[] =>
  typeof tool === 'string' ? [tool] : tool

const plain = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/(?<=.)\/+$/, '')

/** True if the value has at least what is expected. */
export function matches(expected: unknown, value: unknown): boolean {
  if (typeof expected === 'string') {
    const text = typeof value === 'string' || typeof value === 'number' ? plain(String(value)) : undefined
    if (text === undefined) return false
    return expected.startsWith('~') ? text.includes(plain(expected.slice(1))) : text === plain(expected)
  }
  if (Array.isArray(expected))
    return Array.isArray(value) && expected.every((each) => value.some((other) => matches(each, other)))
  if (typeof expected === 'object' && expected !== null)
    return (
      typeof value === 'object' &&
      value !== null &&
      Object.entries(expected).every(([key, each]) => matches(each, (value as Record<string, unknown>)[key]))
    )
  // Models often write numbers as text.
  return String(expected) === String(value)
}

/** Stands in for every server: answers the expected calls of one task, finds nothing otherwise, and records all calls. */
export class Backend {
  readonly #task: Task
  readonly #made = new Set<ExpectedCall>()
  /** Called tools that have nothing to do with the task. */
  readonly wrong: string[] = []

  constructor(task: Task) {
    this.#task = task
  }

  call(tool: string, input: unknown): string {
    const { calls, also = [] } = this.#task
    const found = calls.find((call) => toolsOf(call).includes(tool) && matches(call.input, input))
    if (found) {
      this.#made.add(found)
      return found.result
    }
    const isOfTask = calls.some((call) => toolsOf(call).includes(tool)) || also.includes(tool)
    if (!isOfTask) this.wrong.push(tool)
    return 'No results.'
  }

  /** Why the task failed, or undefined. */
  judge(answer: string): string | undefined {
    const { calls, answer: texts = [] } = this.#task
    const missing = calls.find((call) => !this.#made.has(call))
    if (missing) return `no call of ${toolsOf(missing)[0]} with the expected arguments`
    const absent = texts.find((text) => !answer.toLowerCase().includes(text.toLowerCase()))
    return absent === undefined ? undefined : `the answer lacks "${absent}"`
  }
}
