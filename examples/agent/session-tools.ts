/** Tools that act on the session. The catalogue has their definitions; the session runs them. */
import {
  type ChildOptions,
  type Conversation,
  defineTool,
  type ExecuteContext,
  type Tool,
} from '@toolwell/core'
import type { AgentEvent } from './events.ts'
import type { AgentKind } from './extensions.ts'
import type { Mode } from './permissions.ts'
import { createSession, type SessionOptions } from './session.ts'
import { takes } from './tools.ts'
import { lastOf, openTranscript, type Todo, type Transcript } from './transcript.ts'
import { wires } from './wires.ts'

const text = { type: 'string' } as const
const todo = takes({ text, state: { type: 'string', enum: ['open', 'doing', 'done'] } }, ['text', 'state'])

export const todoWrite = defineTool({
  name: 'todo_write',
  description: 'Replaces the list of what is to be done. Keep it current while you work.',
  inputSchema: takes({ todos: { type: 'array', items: todo } }, ['todos']),
})

export const exitPlanMode = defineTool({
  name: 'exit_plan_mode',
  description:
    'In plan mode nothing can be changed. Shows the user your plan and, if it is approved, leaves it.',
  inputSchema: takes({ plan: { ...text, description: 'The plan, in a few lines' } }, ['plan']),
})

export const queryJournal = defineTool({
  name: 'query_journal',
  description: 'Finds earlier messages of this session, including those removed by a compaction.',
  inputSchema: takes({ words: { ...text, description: 'Words as they occur together in a message' } }, [
    'words',
  ]),
})

const task = { ...text, description: 'The task for the helper, with everything it needs to know' } as const
const names = {
  type: 'array',
  items: text,
  description: 'Names of tools, or patterns such as tracker/*',
} as const

/** Without defined sub-agents, the model names the tools. */
export const delegate = defineTool({
  name: 'delegate',
  description: 'Hands a task to a helper with its own context. It can use only the tools named in `tools`.',
  inputSchema: takes({ task, tools: names }, ['task', 'tools']),
})

export function delegateTo(kinds: readonly AgentKind[]): Tool {
  if (kinds.length === 0) return delegate
  const list = kinds.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  const agent = { type: 'string', enum: kinds.map(({ name }) => name) }
  return {
    ...delegate,
    description: `Hands a task to a helper with its own context. Helpers:\n${list}`,
    // The model needs the list to decide on a call, so it must stay in the description.
    dynamicDescription: true,
    inputSchema: takes({ task, agent }, ['task', 'agent']),
  }
}

/** The parts of a session that its tools use. */
export interface Around {
  readonly options: SessionOptions
  readonly conversation: Conversation
  readonly transcript: Transcript
  emit(event: AgentEvent): void
  setMode(mode: Mode): Promise<void>
}

type Input = Readonly<Record<string, unknown>>
type Run = (input: Input, context: ExecuteContext) => Promise<string>

/** By tool id, because a server may have a tool with the same name. */
export function sessionTools(around: Around): ReadonlyMap<string, Run> {
  const { conversation, transcript, setMode } = around
  const runs: Record<string, Run> = {
    [delegate.name]: (input, { callId }) => runHelper(around, callId, input),
    async [todoWrite.name]({ todos }) {
      await transcript.setTodos(todos as readonly Todo[])
      return `${transcript.todos.filter(({ state }) => state !== 'done').length} left.`
    },
    async [exitPlanMode.name]() {
      if (transcript.mode !== 'plan') return 'You are not in plan mode.'
      await setMode('ask')
      return 'The plan is approved. You may change things now.'
    },
    async [queryJournal.name]({ words }) {
      return (
        recall(transcript, conversation, String(words)).join('\n') || 'Nothing was said with these words.'
      )
    },
  }
  return new Map(Object.entries(runs))
}

export type ChildChoice = Pick<ChildOptions, 'inherit' | 'allow'>

function childOf({ tools, inherit_active_mcp: inherits }: AgentKind): ChildChoice {
  return { inherit: inherits ? 'snapshot' : 'none', ...(tools ? { allow: tools } : {}) }
}

/** Runs a child conversation with its own transcript and ledger and at most its parent's rights. It cannot start helpers. */
async function runHelper({ options, conversation, transcript, emit }: Around, callId: string, input: Input) {
  const { task: given, agent, tools = [] } = input as { task: string; agent?: string; tools?: string[] }
  const helper = { name: 'helper', description: '', tools, inherit_active_mcp: true, prompt: '' }
  const kind = options.agents?.find(({ name }) => name === agent) ?? helper
  const id = `${conversation.id}.${callId}`
  const child = await conversation.child({
    id,
    ...(options.childOf ?? childOf)(kind),
    agent: kind.name,
    policy: ({ name, source }) => source !== '' || name !== delegate.name,
  })
  const system = [options.system, kind.prompt].filter((each) => each !== '').join('\n\n')
  const own = await openTranscript(options.folder, id, lastOf(transcript).wire)
  if (own.mode !== transcript.mode) await own.setMode(transcript.mode)
  emit({ kind: 'sub-agent', agent: kind.name, session: id, task: given })
  // An interrupted helper continues; a new one gets its task.
  return createSession({ ...options, system }, child, own).ask(own.said.length === 0 ? given : undefined)
}

const MOST_HITS = 20
const AROUND = 200

function recall({ said }: Transcript, conversation: Conversation, words: string): string[] {
  const wanted = words.toLowerCase()
  return said
    .flatMap(({ wire, message }) => wires[wire].open(conversation, '').thread([message]))
    .flatMap(({ kind, text: whole }) => {
      const at = whole.toLowerCase().indexOf(wanted)
      return at < 0 ? [] : [`${kind}: ${whole.slice(Math.max(0, at - AROUND), at + wanted.length + AROUND)}`]
    })
    .slice(-MOST_HITS)
}
