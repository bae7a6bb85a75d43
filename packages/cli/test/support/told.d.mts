export interface AnnouncedAt {
  readonly log: string
  readonly instructions: string
  readonly title: string
  readonly tools: readonly { readonly name: string; readonly inputSchema: object }[]
}

export function partsOf(value: string): string[]

export function tell(known: {
  readonly args: readonly string[]
  readonly argv: readonly string[]
  readonly env: readonly string[]
  readonly cwd: string
  readonly most?: number
}): AnnouncedAt
