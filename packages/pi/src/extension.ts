/** The extension: a conversation for each session of pi, its requests through the adapter of their wire, its calls through the ledger. */
import { type CallAnswer, type Conversation, createToolwell } from '@toolwell/core'
import { type Framework, framework } from '@toolwell/core/framework'
import { connectServers, defaultConfigFiles, loadConfig, type Servers } from '@toolwell/mcp'
import { bodyOf, callIdOf, type WireName, wireOf } from './payload.js'
import type { Content, Context, Pi } from './pi.js'
import { sessionStore } from './session-store.js'

/** Milliseconds that a request waits for servers that nobody has listed before. */
const FIRST_WAIT = 10_000

interface Session {
  readonly servers: Servers
  /** The door of the wire that the model speaks now. */
  door(wire: WireName): Framework
  /** The session went to another branch: the conversation is what that branch says. */
  reopen(): Promise<void>
  readonly conversation: Conversation
}

export function toolwell(pi: Pi): void {
  let session: Session | undefined
  const registered = new Set<string>()

  /** pi runs a call only under a name that it knows. What the model sees of these tools is decided request by request. */
  const register = ({ door }: Session, wire: WireName) => {
    for (const { name, description } of door(wire).tools()) {
      if (registered.has(name)) continue
      registered.add(name)
      pi.registerTool({
        name,
        label: name,
        description,
        parameters: { type: 'object', properties: {}, additionalProperties: true },
        execute: async (id, input, _signal, _onUpdate, { model }) => {
          if (!session) throw new Error('The session is over.')
          const answer = await session
            .door(wireOf(model?.api) ?? wire)
            .run({ id: callIdOf(id), name, input })
          return { content: contentOf(answer), details: { outcome: answer.outcome.kind } }
        },
      })
    }
  }

  pi.on('session_start', async (_event, context) => {
    session = await openSession(pi, context)
    register(session, wireOf(context.model?.api) ?? 'openai-chat')
  })
  pi.on('session_tree', () => session?.reopen())
  pi.on('session_shutdown', async () => {
    const ending = session
    session = undefined
    await ending?.servers.close()
  })
  pi.on('before_provider_request', async ({ payload }, { model }) => {
    const wire = wireOf(model?.api)
    const request = wire && bodyOf(payload, wire)
    if (!session || !wire || !request) return undefined
    // How tools are sent is decided with the first request: a server that is met for the first time is waited for.
    await session.servers.settled(FIRST_WAIT)
    register(session, wire)
    const body = await session.door(wire).request(request.body)
    return body && request.payloadOf(body)
  })
}

async function openSession(pi: Pi, { cwd, sessionManager }: Context): Promise<Session> {
  const well = createToolwell({ store: sessionStore(pi, sessionManager) })
  const config = loadConfig({ files: defaultConfigFiles(cwd), workspaceFolder: cwd })
  const servers = connectServers(well.catalogue, config)
  const id = sessionManager.getSessionId()
  let conversation = await well.open({ id })
  let doors = new Map<WireName, Framework>()
  return {
    servers,
    get conversation() {
      return conversation
    },
    door(wire) {
      const known = doors.get(wire) ?? framework(conversation, { wire })
      doors.set(wire, known)
      return known
    },
    async reopen() {
      conversation = await well.open({ id })
      doors = new Map()
    },
  }
}

function contentOf({ text, parts }: CallAnswer): Content[] {
  if (!parts) return [{ type: 'text', text }]
  return parts.map((part): Content => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return { type: 'text', text: JSON.stringify(part) }
  })
}
