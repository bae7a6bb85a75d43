/** Answers requests about prompts, resources and completions. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { quote } from '@toolwell/core/internal'
import type { Caller, ServerRequest } from '@toolwell/mcp'
import { replaceFolder } from '@toolwell/mcp/internal'
import { prompts } from '../prompts.js'
import type { Found, Offer } from '../servers/offers.js'
import type { View } from '../servers/view.js'
import type { Taken } from './call-limits.js'
import { insertCallerFolder, isTooDeep, removeServerInfo } from './call-tool.js'
import { readCursorOrThrow, takePage } from './list-tools.js'
import type { OptionsFor } from './relay.js'
import { answerSubscriptions, createNotFound, toProtocolError } from './subscriptions.js'

export interface OffersOptions {
  readonly view: () => View
  readonly folder: string
  readonly era: Caller['era']
  /** Counts a request to a server against the limits of the principal. */
  readonly take: (source: string) => Taken
  /** Runs the work for a request of the client. */
  readonly during: (
    context: ServerContext,
    params: Readonly<Record<string, unknown>>,
    work: (optionsFor: OptionsFor) => Promise<Result>,
  ) => Promise<Result>
}

/** The protocol has no code for it, so it is the first of the codes that servers may define. */
const LIMIT_REACHED = -32000

/** Registers handlers for the capabilities that were announced. */
export function answerOffers(
  server: Server,
  { prompts: hasPrompts, resources, completions }: ReturnType<Server['getCapabilities']>,
  { view, folder, era, take, during }: OffersOptions,
): void {
  const list = async <T extends object>(
    read: (view: View) => readonly Offer<T>[],
    rename: (entry: T, name: string) => T,
    cursor: string | undefined,
  ) => {
    await view().waitBeforeListing()
    const page = takePage(
      read(view()),
      ({ name }) => name,
      ({ entry, name }) => rename(entry, name),
      readCursorOrThrow(cursor),
    )
    return { ...page, items: insertCallerFolder(folder, view(), page.items) }
  }
  const forward = (
    context: ServerContext,
    { source }: Found,
    method: ServerRequest['method'],
    params: Readonly<Record<string, unknown>>,
  ): Promise<Result> =>
    during(context, params, async (optionsFor) => {
      const taken = take(source)
      if ('refusal' in taken) throw new ProtocolError(LIMIT_REACHED, taken.refusal)
      try {
        const result = await view().request(source, { method, params }, optionsFor(source))
        // The transport could not write it, and the client would wait.
        if (isTooDeep(result)) throw new ProtocolError(ProtocolErrorCode.InternalError, prompts.tooDeep)
        return removeServerInfo(result)
      } catch (error) {
        throw toProtocolError(error)
      } finally {
        taken.release()
      }
    })
  const findPrompt = async (name: string): Promise<Found> => {
    const found = await find(view, ({ offers }) => offers.findPrompt(name))
    if (found) return found
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      prompts.unknownPrompt({ name: quote(name, 100) }),
    )
  }
  if (hasPrompts) {
    server.setRequestHandler('prompts/list', async ({ params }) => {
      const { items, ...page } = await list(
        ({ offers }) => offers.prompts,
        (prompt, name) => ({ ...prompt, name }),
        params?.cursor,
      )
      return { ...page, prompts: items }
    })
    server.setRequestHandler('prompts/get', async ({ params }, context) => {
      const found = await findPrompt(params.name)
      const result = await forward(context, found, 'prompts/get', { ...params, name: found.given })
      return nameLinks(result, 'messages', found.source, view()) as never
    })
  }
  if (resources) {
    server.setRequestHandler('resources/list', async ({ params }) => {
      const { items, ...page } = await list(
        ({ offers }) => offers.resources,
        (resource, uri) => ({ ...resource, uri }),
        params?.cursor,
      )
      return { ...page, resources: items }
    })
    server.setRequestHandler('resources/templates/list', async ({ params }) => {
      const { items, ...page } = await list(
        ({ offers }) => offers.templates,
        (template, uriTemplate) => ({ ...template, uriTemplate }),
        params?.cursor,
      )
      return { ...page, resourceTemplates: items }
    })
    server.setRequestHandler('resources/read', async ({ params }, context) => {
      const { uri } = params
      const found = await findResource(view, folder, uri)
      if (!found) throw createNotFound(uri)
      const result = await forward(context, found, 'resources/read', { ...params, uri: found.given })
      if (found.given === uri || !Array.isArray(result.contents)) return result as never
      // The client knows the resource by another URI.
      const contents = result.contents.map((each) => (each.uri === found.given ? { ...each, uri } : each))
      return { ...result, contents } as never
    })
  }
  if (resources?.subscribe && era === 'legacy') {
    const callerFor = async (context: ServerContext, source: string): Promise<Caller> => {
      let caller: Caller = {}
      await during(context, {}, async (optionsFor) => {
        caller = optionsFor(source).caller ?? {}
        return {}
      })
      return caller
    }
    answerSubscriptions(server, { view, find: (uri) => findResource(view, folder, uri), callerFor })
  }
  if (completions)
    server.setRequestHandler('completion/complete', async ({ params }, context) => {
      const { ref } = params
      const found =
        ref.type === 'ref/prompt' ? await findPrompt(ref.name) : await findResource(view, folder, ref.uri)
      if (!found && ref.type === 'ref/resource') throw createNotFound(ref.uri)
      if (!found || !view().serverHas(found.source, 'completions')) return { completion: { values: [] } }
      const named = ref.type === 'ref/prompt' ? { name: found.given } : { uri: found.given }
      return (await forward(context, found, 'completion/complete', {
        ...params,
        ref: { ...ref, ...named },
      })) as never
    })
}

/** Looks again after first-time listings, which may show the name. */
async function find(view: () => View, look: (view: View) => Found | undefined): Promise<Found | undefined> {
  const found = look(view())
  if (found || !view().isSettling) return found
  await view().settled()
  return look(view())
}

/** Definitions contain `${workspaceFolder}` for the folder. */
export function findResource(view: () => View, folder: string, uri: string): Promise<Found | undefined> {
  return find(view, ({ offers, hasFolderNames }) => {
    const found = offers.findResource((hasFolderNames && replaceFolder(uri, folder)) || uri)
    return found && { ...found, given: insertCallerFolder(folder, view(), found.given) }
  })
}

interface Linked {
  readonly type?: unknown
  readonly uri?: unknown
  readonly content?: Linked
}

/** Names links in a result so that they can be read through the gateway. `key`: `content` or `messages`. */
export function nameLinks<T extends object>(
  result: T,
  key: 'content' | 'messages',
  source: string,
  view: View,
): T {
  const parts = (result as Record<string, unknown>)[key]
  if (!Array.isArray(parts)) return result
  const name = (part: Linked): Linked => {
    if (part.content?.type === 'resource_link') return { ...part, content: name(part.content) }
    if (part.type !== 'resource_link' || typeof part.uri !== 'string') return part
    return { ...part, uri: view.offers.nameLink(source, part.uri) }
  }
  return parts.some((part: Linked) => (part.content ?? part).type === 'resource_link')
    ? { ...result, [key]: parts.map(name) }
    : result
}
