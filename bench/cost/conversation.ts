/** Reads and checks the conversations of the cost bench. bench/README.md describes the format. */
import { readdir, readFile } from 'node:fs/promises'

export interface ConversationFile {
  /** File name without its ending. */
  readonly name: string
  readonly about: string
  readonly catalogue: CatalogueChoice
  /** Tokens of the system prompt. */
  readonly system: number
  readonly turns: readonly TurnScript[]
}

export interface CatalogueChoice {
  /** Number of tools, including the host's. */
  readonly tools: number
  /** Number of tools of the host, at the start of the list: eager under every strategy. */
  readonly own: number
  /** Servers in this order; `*` stands for all others by name. */
  readonly servers: readonly string[]
}

export interface TurnScript {
  /** Minutes since the last answer. */
  readonly idle: number
  /** Tokens of the user message. */
  readonly user: number
  /** Rounds of calls. The calls of one round run in parallel. */
  readonly steps: readonly (readonly CallScript[])[]
  /** Tokens of the answer that ends the turn. */
  readonly answer: number
}

export interface CallScript {
  /** Index of the tool in the catalogue, from 0. */
  readonly tool: number
  /** Tokens of its result. */
  readonly result: number
}

/** Default minutes between turns: someone who reads and writes. */
const IDLE = 1

export async function loadConversations(folder: URL): Promise<ConversationFile[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(/\.json$/, '')
      return readConversation(name, JSON.parse(await readFile(new URL(file, folder), 'utf8')))
    }),
  )
}

export function readConversation(name: string, json: unknown): ConversationFile {
  const at = (path: string) => `bench/conversations/${name}.json, ${path}`
  const fields = objectAt(json, at('the file'), ['about', 'catalogue', 'system', 'turns'])
  const choice = objectAt(fields.catalogue, at('catalogue'), ['tools', 'own', 'servers'])
  const catalogue: CatalogueChoice = {
    tools: numberAt(choice.tools, at('catalogue.tools')),
    own: numberAt(choice.own ?? 0, at('catalogue.own')),
    servers: listAt(choice.servers ?? ['*'], at('catalogue.servers')).map(String),
  }
  const turns = listAt(fields.turns, at('turns')).map((value, index): TurnScript => {
    const path = `turns[${index}]`
    const turn = objectAt(value, at(path), ['idle', 'user', 'steps', 'answer'])
    const steps = listAt(turn.steps ?? [], at(`${path}.steps`)).map((step) =>
      readStep(step, at(`${path}.steps`), catalogue.tools),
    )
    return {
      idle: numberAt(turn.idle ?? IDLE, at(`${path}.idle`)),
      user: numberAt(turn.user, at(`${path}.user`)),
      steps,
      answer: numberAt(turn.answer, at(`${path}.answer`)),
    }
  })
  return {
    name,
    about: String(fields.about ?? ''),
    catalogue,
    system: numberAt(fields.system, at('system')),
    turns,
  }
}

/** `15: 700` is a call of tool 15 whose result has 700 tokens. Commas separate parallel calls. */
function readStep(step: unknown, at: string, tools: number): CallScript[] {
  return String(step)
    .split(',')
    .map((text) => {
      const [, tool, result] = /^\s*(\d+):\s*(\d+)\s*$/.exec(text) ?? []
      if (tool === undefined) throw new Error(`${at}: ${JSON.stringify(step)} is not of the form "15: 700"`)
      if (Number(tool) >= tools) throw new Error(`${at}: unknown tool ${tool}`)
      return { tool: Number(tool), result: Number(result) }
    })
}

function objectAt(value: unknown, at: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${at}: an object is wanted`)
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) throw new Error(`${at}: ${unknown} is not one of ${known.join(', ')}`)
  return value as Record<string, unknown>
}

function numberAt(value: unknown, at: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new Error(`${at}: a number from 0 on is wanted`)
  return value
}

function listAt(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${at}: a list is wanted`)
  return value
}
