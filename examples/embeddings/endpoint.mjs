/**
 * An embedder over HTTP: any endpoint with the API of OpenAI (OpenAI, vLLM, llama.cpp, Ollama, LM Studio).
 *
 *     EMBEDDINGS_KEY=… node examples/embeddings/endpoint.mjs http://localhost:11434/v1/embeddings MODEL
 */
import { compare } from './compare.mjs'

/** `embed` for a hybrid searcher. The endpoint may answer in any order, because each vector has an index. */
export function embedderAt(url, model, key) {
  return async (texts) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify({ model, input: texts }),
    })
    if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`)
    const { data } = await response.json()
    return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding)
  }
}

const [url, model] = process.argv.slice(2)
if (url === undefined || model === undefined) {
  process.stderr.write('Usage: node examples/embeddings/endpoint.mjs URL MODEL\n')
  process.exitCode = 2
} else process.exitCode = (await compare(embedderAt(url, model, process.env.EMBEDDINGS_KEY))) > 0 ? 1 : 0
