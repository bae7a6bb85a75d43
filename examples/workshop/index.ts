/** The example tool set: a host's own tools and six servers, all acting on one folder. */
import type { Tool } from '@toolwell/core'
import { createCalendarTools } from './calendar.ts'
import { createDatabaseTools } from './database.ts'
import { createFileTools } from './files.ts'
import { createMailTools } from './mail.ts'
import { createReleaseTools } from './release.ts'
import { createRepositoryTools } from './repository.ts'
import { createStore, createTurns } from './store.ts'
import { createTrackerTools } from './tracker.ts'

export interface WorkshopServer {
  name: string
  description: string
  tools: Tool[]
}

export interface Workshop {
  /** The host's own tools, without a source: eager by the rules. */
  ownTools: Tool[]
  /** Tools of a named source: deferred by the rules. */
  servers: WorkshopServer[]
}

/** The folder has to exist. Nothing is written before the first call of a tool that writes. */
export function createWorkshop(folder: string): Workshop {
  const store = createStore(folder)
  const inTurn = createTurns()
  const server = (name: string, description: string, tools: Tool[]): WorkshopServer => ({
    name,
    description,
    tools: tools.map((tool) => ({ ...inTurn(tool), source: name })),
  })
  return {
    ownTools: createFileTools(store).map(inTurn),
    servers: [
      server('tracker', 'Issues, milestones and the links between them.', createTrackerTools(store)),
      server('repository', 'Commits, branches and worktrees of the workspace.', createRepositoryTools(store)),
      server('calendar', 'Events, invitations and free time.', createCalendarTools(store)),
      server('database', 'Small tables with typed columns.', createDatabaseTools(store)),
      server('release', 'Versions, changelog, checksums and published releases.', createReleaseTools(store)),
      server('mail', 'Drafts, templates and an outbox.', createMailTools(store)),
    ],
  }
}
