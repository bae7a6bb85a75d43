/** The parts of pi's API that this extension uses, declared by shape: pi's package has changed its name. */

/** One line of pi's session file. Entries form a tree. */
export interface SessionEntry {
  readonly type: string
  readonly id: string
  readonly customType?: string
  readonly data?: unknown
  readonly message?: unknown
}

export interface SessionManager {
  /** Entries from the first to the current one. */
  getBranch(): readonly SessionEntry[]
  getSessionId(): string
  /** Undefined if the session is only in memory. */
  getSessionFile(): string | undefined
  getSessionDir(): string
}

export interface Context {
  readonly cwd: string
  readonly hasUI: boolean
  readonly sessionManager: SessionManager
  readonly model: { readonly api: string; readonly provider: string; readonly id: string } | undefined
  readonly ui: {
    notify(text: string, kind?: 'info' | 'warning' | 'error'): void
    setStatus(key: string, text: string | undefined): void
    confirm(title: string, message: string): Promise<boolean>
  }
}

export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }

export interface ToolDefinition {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly parameters: object
  execute(
    callId: string,
    input: unknown,
    signal: AbortSignal | undefined,
    onUpdate:
      | ((update: { readonly content: readonly Content[]; readonly details: unknown }) => void)
      | undefined,
    context: Context,
  ): Promise<{ readonly content: readonly Content[]; readonly details: unknown }>
}

/** The fields of an event that are read here. */
export interface PiEvent {
  readonly reason?: string
  readonly payload?: unknown
  toolName?: string
  readonly toolCallId?: string
  readonly input?: Record<string, unknown>
  readonly message?: unknown
}

export interface Pi {
  on(event: string, handler: (event: PiEvent, context: Context) => unknown): void
  registerTool(tool: ToolDefinition): void
  getActiveTools(): readonly string[]
  getAllTools(): readonly {
    readonly name: string
    readonly description: string
    readonly parameters: object
  }[]
  setActiveTools(names: readonly string[]): void
  registerCommand(
    name: string,
    command: {
      readonly description: string
      handler(text: string, context: Context): Promise<void>
    },
  ): void
  appendEntry(customType: string, data: unknown): void
}

/** Shows a line to the user. pi without a UI drops notifications, so they go to standard error. */
export function say({ hasUI, ui }: Context, text: string, kind: 'info' | 'warning' | 'error' = 'info'): void {
  if (hasUI) ui.notify(text, kind)
  else process.stderr.write(`${text}\n`)
}
