/** Plays one conversation under one strategy on one wire with the real library and a scripted model, and records every request. */
import { createToolwell, type Tool, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import type { BenchCatalogue } from './catalogue.ts'
import type { CallScript, ConversationFile } from './conversation.ts'
import { filler } from './filler.ts'
import { act, MOST_ATTEMPTS, type Situation, type WantedTool } from './model.ts'
import type { PieceMaker, Rendering } from './rendering.ts'
import type { BenchWire, Body, ModelCall } from './wires/wire.ts'

export interface RecordedRequest {
  /** Minutes since the start. */
  readonly minute: number
  readonly body: Body
  /** Wire names of the loaded tools. */
  readonly loaded: readonly string[]
  readonly rendering: Rendering
  /** Tokens of the reply. */
  readonly output: number
  /** A round that only searched. It would not exist with every tool sent. */
  readonly isSearch: boolean
}

export interface Recording {
  readonly requests: readonly RecordedRequest[]
  readonly mode: 'off' | 'on'
  readonly delivery: string
  /** Search calls. Parallel ones share a round. */
  readonly searches: number
}

/** Minutes for one request, including calls. */
const STEP = 0.25
/** Output tokens for deciding on a search, not kept in the history. An assumption. */
const DELIBERATION = 60

/** Shared by all wires of a conversation, because indexing a large catalogue costs more than the conversation. */
export function createWell(catalogue: BenchCatalogue, options: ToolwellOptions): Toolwell {
  const well = createToolwell({ ...options, tools: catalogue.own })
  for (const [name, tools] of catalogue.bySource) well.catalogue.setSource(name, { tools })
  return well
}

export async function replayConversation(
  file: ConversationFile,
  catalogue: BenchCatalogue,
  well: Toolwell,
  wire: BenchWire,
  pieces: PieceMaker,
): Promise<Recording> {
  const recorder = await openRecorder(file, well, wire, pieces)
  const wantedBy = createLookup(catalogue, well)
  for (const [index, turn] of file.turns.entries()) {
    if (index > 0) recorder.wait(turn.idle)
    recorder.say(filler(turn.user, `user ${index}`))
    for (const step of turn.steps) await recorder.use(step.map(wantedBy), step)
    await recorder.answer(filler(turn.answer, `answer ${index}`))
  }
  return recorder.recording()
}

interface Said {
  readonly text: string
  readonly calls: readonly ModelCall[]
  readonly isSearch: boolean
}

/** Host and model of one conversation. */
async function openRecorder(file: ConversationFile, well: Toolwell, wire: BenchWire, pieces: PieceMaker) {
  const conversation = await well.open({ id: `${file.name} ${wire.name}` })
  const thread = wire.open(conversation, filler(file.system, 'system'))
  const requests: RecordedRequest[] = []
  let minute = 0
  let ids = 0
  let searches = 0
  let opened: Pick<Recording, 'mode' | 'delivery'> = { mode: 'off', delivery: '' }
  const nextId = () => `call_${++ids}`

  /** Sends one request and answers the calls of its reply. */
  const ask = async (
    decide: (seen: Pick<Situation, 'loaded' | 'delivery' | 'rendering'>) => Said,
    results: readonly CallScript[] = [],
  ) => {
    const { view, body, reply } = await thread.begin()
    opened = { mode: view.mode, delivery: view.delivery }
    const rendering = wire.render(body, pieces)
    // While off, every tool counts as loaded.
    const loaded = view.mode === 'off' ? [] : conversation.inspect().loadedLazyTools
    const said = decide({ loaded, delivery: view.delivery, rendering })
    const sizes = new Map(said.calls.map(({ id }, index) => [id, results[index]?.result ?? 0]))
    const answers = await reply(said, ({ callId }) => filler(sizes.get(callId) ?? 0, `result ${callId}`))
    const output = outputTokens(said, pieces)
    requests.push({ minute, body, loaded, rendering, output, isSearch: said.isSearch })
    minute += STEP
    return { ...said, answers }
  }

  return {
    wait(minutes: number) {
      minute += minutes
    },
    say: (text: string) => thread.say(text),
    answer: (text: string) => ask(() => ({ text, calls: [], isSearch: false })),
    /** Calls the tools in parallel, after as many search rounds as needed. */
    async use(wanted: readonly WantedTool[], results: readonly CallScript[]) {
      let found = ''
      for (let attempt = 0; attempt <= MOST_ATTEMPTS; attempt++) {
        const { isSearch, calls, answers } = await ask(
          (seen) => ({ text: '', ...act(wanted, { ...seen, answers: found, attempt }, nextId) }),
          results,
        )
        if (!isSearch) return assertResults(file.name, answers)
        searches += calls.length
        found += answers.map(({ text }) => text).join('\n')
      }
      throw new Error(`${file.name}: ${wanted.map(({ name }) => name).join(', ')} was not found`)
    },
    recording: (): Recording => ({ requests, ...opened, searches }),
  }
}

/** A failed call would make the run too cheap. */
function assertResults(name: string, answers: readonly { kind: string; text: string }[]): void {
  const failed = answers.find(({ kind }) => kind !== 'result')
  if (failed) throw new Error(`${name}: ${failed.kind}: ${failed.text.slice(0, 400)}`)
}

function outputTokens({ text, calls, isSearch }: Said, pieces: PieceMaker): number {
  const spoken = [text, ...calls.map(({ name, arguments: input }) => JSON.stringify({ name, input }))]
  return spoken.reduce((sum, each) => sum + pieces.count(each), isSearch ? DELIBERATION : 0)
}

/** The tool at an index of the catalogue, with the name that the model knows. */
function createLookup(catalogue: BenchCatalogue, well: Toolwell): (call: CallScript) => WantedTool {
  const wireNames = new Map<Tool, string>()
  for (const entry of well.catalogue.entries()) wireNames.set(entry.tool, entry.wireName)
  return ({ tool: place }) => {
    const tool = catalogue.tools[place] as Tool
    const isOwn = place < catalogue.own.length
    return { tool, isOwn, name: isOwn ? tool.name : (wireNames.get(tool) ?? tool.name) }
  }
}
