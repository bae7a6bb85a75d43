// Google ADK. Needs GEMINI_API_KEY; `npm run examples -- google-adk` needs no key.
// npm install @google/adk@2.0.0
import * as adk from '@google/adk'
import { createToolwell, defineTool } from '@toolwell/core'
import { framework } from '@toolwell/core/framework'

const invoice = (action: string) =>
  defineTool({
    name: `${action}_invoice`,
    description: `To ${action} one invoice`,
    inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
    execute: ({ number }) => `invoice ${number}: ${action} done`,
  })
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', {
  description: 'Invoices',
  tools: ['send', 'void', 'print'].map(invoice),
})
const lazy = framework(await well.open({ id: 'thread-1' }), { wire: 'google' })

class LazyTool extends adk.BaseTool {
  override _getDeclaration() {
    return { name: this.name, description: this.description }
  }
  async runAsync({ args, toolContext }: adk.RunAsyncToolRequest) {
    const { text } = await lazy.run({ id: toolContext.functionCallId ?? '', name: this.name, input: args })
    return { result: text }
  }
}

class LazyGemini extends adk.Gemini {
  protected override getHttpOptions() {
    return { ...super.getHttpOptions(), fetch: lazy.fetch }
  }
  override async *generateContentAsync(
    ...[request, ...more]: Parameters<adk.Gemini['generateContentAsync']>
  ) {
    for await (const response of super.generateContentAsync(request, ...more)) {
      // A call of an unknown tool would end the run.
      for (const { functionCall: { name } = {} } of response.content?.parts ?? [])
        if (name) request.toolsDict[name] ??= new LazyTool({ name, description: '' })
      yield response
    }
  }
}

const agent = new adk.LlmAgent({
  name: 'billing',
  model: new LazyGemini({ model: 'gemini-3-pro' }),
  instruction: 'You do the billing.',
  tools: lazy.tools().map(({ name, description }) => new LazyTool({ name, description })),
})
const runner = new adk.InMemoryRunner({ agent, appName: 'billing' })
const { id: sessionId } = await runner.sessionService.createSession({ appName: 'billing', userId: 'you' })
for (const text of ['Send invoice 7.', 'And 8.']) {
  const newMessage = { role: 'user', parts: [{ text }] }
  for await (const event of runner.runAsync({ userId: 'you', sessionId, newMessage }))
    if (adk.isFinalResponse(event)) console.log(adk.stringifyContent(event))
}
