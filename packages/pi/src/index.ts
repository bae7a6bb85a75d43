/** The door that pi loads: an extension is a default export. */
export { toolwell as default } from './extension.js'
