/** Config files of projects that the user lets the gateway use, kept in its private folder. */
import { trustedProjects as projectsIn, type TrustedProjects } from '@toolwell/mcp/internal'
import { preparePrivateFolder } from '../bridge/folder.js'

export type { TrustedProjects } from '@toolwell/mcp/internal'

export const trustedProjects = (folder: string): TrustedProjects => projectsIn(folder, preparePrivateFolder)
