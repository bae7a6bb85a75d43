/** The extension: passes pi's events to a session and registers the tools and the command. */
import { createToolwell } from '@toolwell/core'
import { diskCache, type ServerConfig } from '@toolwell/mcp'
import { defaultTrustFolder, trustedProjects } from '@toolwell/mcp/internal'
import { createBridgedCalls, createContent, createReply } from './calls.js'
import { readConfig } from './config-files.js'
import { describeSession } from './describe-session.js'
import { readCallId } from './payload.js'
import type { Context, Pi } from './pi.js'
import { say } from './pi.js'
import { openSession, type Session } from './session.js'
import { type Asked, askForTrust, trustAll } from './trust.js'

/** Accepts any arguments: the conversation checks and repairs them, while pi would refuse. */
const OPEN = { type: 'object', properties: {}, additionalProperties: true }

export function toolwell(pi: Pi): void {
  let session: Session | undefined
  const registered = new Set<string>()
  const bridged = createBridgedCalls()
  const asked: Asked = new Set()

  /** pi runs only calls of registered tools. Each request decides which of them the model sees. */
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
          if (!session) throw new Error('This pi session has ended. Call the tool again in the new session.')
          const answer = await session.adapterFor(context.model?.api).run(
            { id: readCallId(id), name, input: bridged.restore(id, input) },
            {
              ...(signal ? { signal } : {}),
              onProgress: ({ message, progress, total }) => {
                const text = message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`
                onUpdate?.({ content: [{ type: 'text', text }], details: {} })
              },
            },
          )
          return createContent(answer)
        },
      })
    }
  }

  const { config } = readConfig(process.cwd(), trustedProjects(defaultTrustFolder()))
  register(readKnownNames(config.servers).map((name) => ({ name, description: '' })))

  const showStatus = (context: Context) => {
    if (context.hasUI && session) context.ui.setStatus('toolwell', session.conversation.inspect().line)
  }

  pi.on('session_start', async (_event, context) => {
    session = await openSession(pi, context)
    for (const problem of session.problems) say(context, problem, 'warning')
    register(session.tools())
    void askForTrust(session, context, asked)
  })
  // pi reads its tools here; tools that join later are added with the next prompt.
  pi.on('before_agent_start', async (_event, context) => {
    const { model } = context
    // Lets a pending answer about trust take effect first.
    await new Promise((resolve) => setImmediate(resolve))
    for (const problem of session?.reload() ?? []) say(context, problem, 'warning')
    if (session) void askForTrust(session, context, asked)
    await session?.ready()
    if (!session) return
    register(session.tools())
    // pi would send every tool it knows in a request that cannot be changed.
    const isOffered = session.findWire(model?.api) !== undefined
    const others = pi.getActiveTools().filter((name) => !registered.has(name))
    // Removed tools stay active, so that their calls get an answer here.
    pi.setActiveTools(isOffered ? [...others, ...registered] : others)
    if (!isOffered)
      say(
        context,
        `Toolwell does not know the API ${JSON.stringify(model?.api)}: tools of servers are skipped. Choose another model with /model.`,
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
    const wire = session?.findWire(model?.api)
    if (model && wire && isAssistant(message))
      session?.adapterFor(model.api).replied(createReply(message, wire, model.id))
  })
  pi.on('tool_call', (event) => {
    if (session) bridged.show(event, session.conversation.catalogue)
  })
  pi.registerCommand('toolwell', {
    description: 'Shows loaded tools, costs and servers; `trust` asks about the config files of this folder',
    handler: async (words, context) => {
      if (!session) say(context, 'Toolwell has no session. Start one with /new.')
      else if (words.trim() === 'trust') await trustAll(session, context)
      else say(context, describeSession(session))
    },
  })
}

function isAssistant(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'role' in message && message.role === 'assistant'
}

/**
 * Names of tools listed before. pi rebuilds its tool list for each tool that joins a running session, but not while the
 * extension loads. Names that no longer exist are never offered.
 */
function readKnownNames(servers: readonly ServerConfig[]): string[] {
  const cache = diskCache()
  const { catalogue } = createToolwell()
  for (const server of servers) {
    const tools = server.enabled ? (cache.read(server)?.definition.tools ?? []) : []
    const named = tools.map(({ name }) => ({
      name,
      description: '',
      inputSchema: { type: 'object' as const },
    }))
    catalogue.setSource(server.name, { tools: named })
  }
  return [...catalogue.entries()].map(({ wireName }) => wireName)
}
