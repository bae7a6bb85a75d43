import { fileURLToPath } from 'node:url'

/** The folder of the built page, for the gateway: `index.html`, and scripts and styles in `assets`. */
export const dashboardFolder: string = fileURLToPath(new URL('../dist/built/', import.meta.url))
