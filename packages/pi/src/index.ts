/** Entry point that pi loads. */
// biome-ignore lint/style/noDefaultExport: pi takes the default export of a module as the extension.
export { toolwell as default } from './extension.js'
