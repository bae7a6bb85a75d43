/** What a model of the SDK says that a request cost: plain numbers, or numbers in groups from its third version on. */
import type { Usage } from '../../accounting/measurement.js'
import { figure } from '../shared/stream.js'

export function readUsage(usage: unknown): Usage {
  return {
    inputTokens: figure(usage, 'inputTokens', 'total') ?? figure(usage, 'inputTokens'),
    cachedTokens: figure(usage, 'inputTokens', 'cacheRead') ?? figure(usage, 'cachedInputTokens'),
    outputTokens: figure(usage, 'outputTokens', 'total') ?? figure(usage, 'outputTokens'),
  }
}
