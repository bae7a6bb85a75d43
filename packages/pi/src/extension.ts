/** The extension: pi's events to a session of ours, and the session's tools and command to pi. */
import { defaultTrustFolder, trustedProjects } from '@toolwell/mcp/internal'
import { bridgedCalls } from './bridged-calls.js'
import { callIdOf } from './call-ids.js'
import { contentOf } from './content.js'
import { describeSession } from './describe-session.js'
import { knownNames } from './known-names.js'
import type { Context, Pi } from './pi.js'
import { readConfig } from './read-config.js'
import { replyOf } from './reply.js'
import { say } from './say.js'
import { openSession, type Session } from './session.js'
import { type Asked, askForTrust, trustAll } from './trust.js'

/** The conversation checks arguments; pi would refuse what can be repaired. */
const OPEN = { type: 'object', properties: {}, additionalProperties: true }

export function toolwell(pi: Pi): void {
  let session: Session | undefined
  const registered = new Set<string>()
  const bridged = bridgedCalls()
  const asked: Asked = new Set()

  /** pi runs a call only under a name that it knows. What the model sees of these tools is decided request by request. */
  const register = (tools: readonly { readonly name: string; readonly description: string }[]) => {
    for (const { name, description } of tools) {
      if (registered.has(name)) continue
      registered.add(name)
      pi.registerTool({
        name,
        label: name,
        description,
        parameters: OPEN,
        execute: async (id, input, signal, onUpdate, context) => {
          if (!session) throw new Error('This session of pi is over. Start the call again in the new one.')
          const answer = await session.door(context.model?.api).run(
            { id: callIdOf(id), name, input: bridged.written(id, input) },
            {
              ...(signal ? { signal } : {}),
              onProgress: ({ message, progress, total }) => {
                const text = message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`
                onUpdate?.({ content: [{ type: 'text', text }], details: {} })
              },
            },
          )
          return contentOf(answer)
        },
      })
    }
  }

  const { config } = readConfig(process.cwd(), trustedProjects(defaultTrustFolder()))
  register(knownNames(config.servers).map((name) => ({ name, description: '' })))

  const showStatus = (context: Context) => {
    if (context.hasUI && session) context.ui.setStatus('toolwell', session.conversation.inspect().line)
  }

  pi.on('session_start', async (_event, context) => {
    session = await openSession(pi, context)
    for (const problem of session.problems) say(context, problem, 'warning')
    register(session.tools())
    void askForTrust(session, context, asked)
  })
  // pi takes the tools that it knows into its loop here, and what joins later with the next prompt.
  pi.on('before_agent_start', async (_event, context) => {
    const { model } = context
    // An answer that came before this prompt counts for it.
    await new Promise((resolve) => setImmediate(resolve))
    for (const problem of session?.readAgain() ?? []) say(context, problem, 'warning')
    if (session) void askForTrust(session, context, asked)
    await session?.ready()
    if (!session) return
    register(session.tools())
    // Where a request cannot be changed, every tool that pi knows would be in it.
    const isOffered = session.wireOf(model?.api) !== undefined
    const others = pi.getActiveTools().filter((name) => !registered.has(name))
    // A tool that is gone stays active too: a call of it is answered here, with what became of it.
    pi.setActiveTools(isOffered ? [...others, ...registered] : others)
    if (!isOffered)
      say(
        context,
        `Toolwell does not know the API ${JSON.stringify(model?.api)}: tools of servers are left out. Choose another model with /model.`,
        'warning',
      )
  })
  pi.on('session_tree', () => session?.reopen())
  pi.on('session_shutdown', async () => {
    const ending = session
    session = undefined
    await ending?.close()
  })
  pi.on('before_provider_request', async ({ payload }, context) => {
    if (!session) return undefined
    const changed = await session.request(payload, context.model?.api, (name) => registered.has(name))
    showStatus(context)
    return changed
  })
  pi.on('message_end', ({ message }, { model }) => {
    const wire = session?.wireOf(model?.api)
    if (model && wire && isAssistant(message))
      session?.door(model.api).replied(replyOf(message, wire, model.id))
  })
  pi.on('tool_call', (event) => {
    if (session) bridged.show(event, session.conversation.catalogue)
  })
  pi.registerCommand('toolwell', {
    description:
      'What of the tools is loaded, what it costs, and how the servers are; `trust`: use the config files of this folder',
    handler: async (words, context) => {
      if (!session) say(context, 'Toolwell has no session: start one with /new.')
      else if (words.trim() === 'trust') trustAll(session, context)
      else say(context, describeSession(session))
    },
  })
}

function isAssistant(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'role' in message && message.role === 'assistant'
}
