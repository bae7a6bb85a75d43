/**
 * First requests of other agents with five real servers and 95 tools, measured once from their npm packages with a scripted
 * endpoint (o200k over the JSON of the tools, the text of the prompt, the messages). Not measured again here.
 */
export interface Published {
  readonly agent: string
  readonly defers: boolean
  readonly tools: number
  readonly tokens: number
}

export const PUBLISHED: readonly Published[] = [
  { agent: 'Codex 0.166, gpt-5.5', defers: true, tools: 13, tokens: 8_700 },
  { agent: 'Codex 0.166, gpt-6-sol', defers: true, tools: 11, tokens: 11_500 },
  { agent: 'Continue (cn)', defers: false, tools: 105, tokens: 13_900 },
  { agent: 'Qwen Code 0.15.10', defers: true, tools: 15, tokens: 16_900 },
  { agent: 'Cline', defers: false, tools: 119, tokens: 17_300 },
  { agent: 'Goose', defers: false, tools: 114, tokens: 18_200 },
  { agent: 'Claude Code 2.1.197, tool search on', defers: true, tools: 9, tokens: 18_900 },
  { agent: 'Qwen Code 0.24.4', defers: true, tools: 14, tokens: 19_100 },
  { agent: 'Claude Code 2.1.325', defers: true, tools: 12, tokens: 19_800 },
  { agent: 'opencode', defers: false, tools: 108, tokens: 21_800 },
  { agent: 'Kilo', defers: false, tools: 114, tokens: 26_100 },
  { agent: 'Gemini CLI', defers: false, tools: 113, tokens: 29_700 },
  { agent: 'Kimi', defers: false, tools: 119, tokens: 33_300 },
]
