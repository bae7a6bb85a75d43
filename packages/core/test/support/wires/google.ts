/** The scenario harness for the Gemini API, and the host behind it for tests of this wire alone. */
import type { ToolwellOptions } from '@toolwell/core'
import {
  assemble,
  type GoogleContent,
  type GoogleParts,
  type GooglePrompt,
  google,
  readEvents,
} from '@toolwell/core/google'
import { googleProtocol } from '@toolwell/testing'
import { googleRenderOrder } from '../../../../testing/src/google/answer.js'
import type { GoogleRequestBody, GoogleRuleOptions } from '../../../../testing/src/google/request.js'
import type { Script, WireHarness } from '../wire-harness.js'
import { type NativeHost, post, startWireHost, type WireDriver, type WireSetup } from '../wire-host.js'

type Setup = WireSetup & {
  readonly systemInstruction?: GooglePrompt['systemInstruction']
  readonly endpoint?: GoogleRuleOptions
  readonly stream?: boolean
  /** Changes what the model answers, for what no script can write. */
  readonly reply?: (content: GoogleContent) => GoogleContent
}

interface More {
  /** The native history. */
  readonly contents: GoogleContent[]
}

export type GoogleHost = NativeHost<GoogleContent, GoogleRequestBody, More> & More

const driver = ({
  systemInstruction,
  endpoint,
  stream = false,
  reply = (content) => content,
}: Setup): WireDriver<GoogleContent, GoogleContent, GoogleParts, GooglePrompt, GoogleRequestBody, More> => ({
  protocol: googleProtocol(endpoint),
  prompt: { systemInstruction },
  adapter: google,
  user: (text) => ({ role: 'user', parts: [{ text }] }),
  async send({ url }, parts) {
    const path = `${url}/v1beta/models/scripted`
    const content = stream
      ? await streamed(`${path}:streamGenerateContent?alt=sse`, parts)
      : (await post<{ candidates: { content?: GoogleContent }[] }>(`${path}:generateContent`, parts))
          .candidates?.[0]?.content
    return content && reply(content)
  },
  kept: (content) => [content],
  lastText: (contents) => (contents.at(-1)?.parts ?? []).map((part) => part.text ?? '').join(''),
  tools: ({ tools = [] }) =>
    tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map((declaration) => ({ name: declaration.name ?? '', native: declaration })),
  rendered: googleRenderOrder,
  more: (contents) => ({ contents }),
})

/** The content of the reply, or undefined where the stream broke off or was none. */
async function streamed(url: string, parts: object): Promise<GoogleContent | undefined> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(parts) })
  if (response.status === 400) throw new Error(`The endpoint refused the request: ${await response.text()}`)
  if (response.status !== 200 || !response.body) return undefined
  const { reply, complete } = await assemble(readEvents(response.body))
  return complete ? reply : undefined
}

export const googleHarness: WireHarness = {
  name: 'google',
  order: 'system-first',
  deliveries: ['append', 'bridge'],
  open: (options, script, setup) =>
    startGoogleHost(options, script, { systemInstruction: 'You are a careful assistant.', ...setup }),
}

export function startGoogleHost(
  options: ToolwellOptions,
  script: Script,
  setup: Setup = {},
): Promise<GoogleHost> {
  return startWireHost(driver(setup), options, script, setup)
}
