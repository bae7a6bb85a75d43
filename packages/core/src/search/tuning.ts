/** Every weight and constant of the search that was chosen on data. */

export interface Tuning {
  /** Weight of an occurrence in each field, before saturation. */
  readonly fields: Readonly<Record<FieldName, number>>
  /** Weight of a concept relative to the word that leads to it: actions and topics. */
  readonly action: number
  readonly topic: number
  /** Weight of a synonym relative to the word of the query. */
  readonly synonym: number
  /** Weight of a word that requests often have and that says little ("tomorrow"). */
  readonly weak: number
  /** Weight of two neighbouring words relative to each of them. */
  readonly pair: number
  /** Share of a long query's score that its best clause decides. */
  readonly clause: number
}

export type FieldName =
  | 'name'
  | 'alias'
  | 'server'
  | 'domain'
  | 'title'
  | 'hint'
  | 'snippet'
  | 'lead'
  | 'description'
  | 'parameter names'
  | 'parameters'
  | 'server description'
  | 'usage'

/** The datasets lack alias, domain, title, hint, snippet and usage. Their weights are set by analogy with the other fields. */
export const defaultTuning: Tuning = {
  fields: {
    name: 2,
    alias: 2,
    server: 4,
    domain: 1,
    title: 1,
    hint: 1,
    snippet: 0.65,
    lead: 0.65,
    description: 0.4,
    'parameter names': 0.6,
    parameters: 0.4,
    'server description': 0.45,
    usage: 1.1,
  },
  action: 0.35,
  topic: 0.5,
  synonym: 0.5,
  weak: 0.5,
  pair: 0.3,
  clause: 0.35,
}

/** Relevance from which on a hit is an answer. docs/concepts/how-search-ranks.md shows what it keeps and what it drops. */
export const defaultCutOff = 0.35
/** Certainty from which on `autoLoad: 'certain'` loads a hit. Below, the search offers it by its signature. */
export const certaintyThreshold = 0.5
/** Shares of the best score that other hits need. */
export interface Shares {
  /** Needed to be an answer if the hit is clear: 9/20 at the default cut-off. */
  readonly answer: number
  /** Needed to be an answer in any case, and to be loaded: 11/20 at the default cut-off. Below, the hit is shown by its signature. */
  readonly load: number
}

/** Scales the shares with the cut-off. */
export function computeShares(cutOff: number): Shares {
  return { answer: Math.min(1, cutOff / 0.78), load: Math.min(1, cutOff / 0.64) }
}

// How words and use score

/** Rarity is computed as if the index had at least this many tools: a few tools say little about which words are rare. */
export const minimumIndexSize = 3000
/** A concept is skipped if more than this share of the tools, and more than `commonMinimum`, have it. */
export const commonShare = 0.1
export const commonMinimum = 1500
/** The same minimum for synonyms. */
export const commonSynonyms = 200
/** A weak word ("tomorrow") is weighed as if at least this many tools had it, because its rarity says little. */
export const minimumWeakFrequency = 100
/**
 * In an index with few tools, an action ("delete") is weighed as if up to this many tools had it. There it is rare by chance, and
 * would count as much as its object.
 */
export const minimumActionFrequency = 20
/** A learned term is weighed as if at least this many tools had learned it. */
export const minimumLearners = 5
/** Use that adds a third to a tool's score restores all that the tool lost through its effect or server. */
export const usePower = 3
/** Share of the best score by words that a tool can reach if only use finds it. Less than `minimumRivalShare`, so that it does not compete with them. */
export const learnedOnlyShare = 0.6
/** In an example with more words, each word counts less. */
export const fullExampleWords = 8
/** How much each example without a term lowers its strength. */
export const otherExamples = 0.4
/** If this many times more tools have a term than have learned it, each learner is looked up separately. */
export const fewUsers = 5
/** A learned term is skipped if more tools than this have learned it: a word, or a concept or synonym. */
export const commonUsers = { word: 200, other: 60 } as const
/** Share of its score that a tool keeps if it has another effect than requested: for "list", a tool that deletes. */
export const otherEffect = 0.6
/** The same for a tool with an unknown effect. */
export const unknownEffect = 0.9
/** The same for a tool that returns one thing if a list is requested. */
export const oneOfSeveral = 0.95

// Servers that a query names

/** Share of their score that tools of other servers keep. */
export const otherServer = 0.8
/** A word names a server if at least this share of the tools with the word belong to servers with that name. */
export const nameShare = 0.8
/** A preposition lowers the limit ("in github"). An everyday word raises it ("how long to drive"). */
export const placeShare = 0.5
export const ordinaryShare = 0.9
/** Longer queries tell a story and mention names in passing, so they name no server. */
export const namedServerWordLimit = 10

// Queries

/** Number of distinct words that are read. */
export const queryWordLimit = 64
/** Queries with at least this many distinct words are also split into clauses. */
export const longQuery = 18
export const clauseLimit = 12
/** Queries with at most this many distinct words start with the requested action; a longer one tells a story. */
export const briefQuery = 6
/** Share of its score that a detail of a brief query adds: "a prompt" in "generate an image from a prompt". */
export const detailShare = 0.8
/** Weight of a word inside a literal. */
export const literalWeight = 0.2
/** Factor for the concepts of a word that no tool has: they replace the word instead of adding to it. */
export const replacementFactor = 2

// Misspelt words

/** Words with fewer letters are not repaired: too many words differ in one letter. */
export const minimumTypoLetters = 5
/** From this many letters on, a word may have two typos. */
export const lettersForTwoTypos = 8

// Names

/**
 * Cost of each name word that the query does not contain, for the score and for coverage. For "a mock server", `createMock` fits
 * better than `deleteMockServerResponse`.
 */
export const unaskedCost = { score: 0.15, coverage: 0.04 } as const
export const maximumUnasked = 3
/** Most names have one such word, so one does not lower the coverage, and none raises it. */
export const usualUnasked = 1
/** In a longer query other name words cost less. In a query of one word they cost nothing. */
export const usualQueryWords = 6

// Relevance and coverage

/** Coverage from which on an answer clearly does what the query asks for. See docs/concepts/how-search-ranks.md. */
export const clearCoverage = 0.52
/** Share of a word's importance that a tool gets for using a related word, by how near the two are. */
export const nearnessShares = { same: 0.8, subject: 0.5, hint: 0.3 } as const
/** A missing detail ("… with a colleague") costs this share of its importance. A detail that the tool has counts in full. */
export const missingDetailShare = 0.5
/** More words add only details: a tool that covers this many rare words covers the whole request. */
export const briefWords = 2.5
/** Strength of a word in a tool's first sentence. */
export const fullStrength = 0.6
/** For long requests: the score that counts as much as having every word of a brief request. */
export const fullScore = 2.1
/** In a long request, the share of its importance that a word adds to the score of a tool that has it. */
export const heldShare = 0.5
/** With this many times `briefWords` rare words a request is long, and only the score decides. */
export const longRequest = 1.5
/** Factor for learned words: someone who wanted the tool used them. */
export const learnedFactor = 2
/** Share of the total importance at which relevance is 0.5. At the default cut-off the share is 0.12. */
export const halfRelevanceShare = 0.22
/** About half of the character pairs of an unspaced script straddle two words, so no document has them. */
export const shareOfUnknownPairs = 0.5
/** A missing weak word ("tomorrow") says little. */
export const shareOfWeakWords = 0.5
/** Only exact names reach a relevance of 1. */
export const maximumRelevance = 0.99

// Order of the best hits

/** Below this relevance, coverage is not computed: no useful cut-off accepts such a hit. */
export const minimumRelevance = 0.2
/** Hits with at least this share of the best score are also ordered by how well they fit, up to `maximumRivals`. */
export const minimumRivalShare = 0.65
export const maximumRivals = 12
/** Share of a rival's score that its coverage decides. */
export const coverageShare = 0.5
/** Share of coverage that a tool keeps if the query names a product that the tool does not mention ("post it on LinkedIn"). */
export const unknownProductShare = 0.5

// Answers

/** Among this many hits, clear ones come first. */
export const consideredHits = 8
/** The best hits that decide whether the search has a clear answer, and the number of nearest hits shown if it has none. */
export const decisiveHits = 4
export const nearestHits = 3
/** Coverage that the nearest hits need to be shown, and to be loaded. A loaded hit also needs this share of the best coverage. */
export const minimumCoverage = { named: 0.2, loaded: 0.3, shareOfNearest: 0.8 } as const
/** Next to a clear answer, an unclear hit needs this share of the best coverage. */
export const minimumShareOfBest = 0.5
/** Queries with more clauses tell a story. They are searched as a whole. */
export const mostNeeds = 6
/** Further tools that an answer names, if a hit is clear and if none is. */
export const mostOthers = { clear: 10, unclear: 20 }
/** If no tool reaches the cut-off, tools above this share of it are named. */
export const weakShare = 0.75
/** Servers with a hit of at least this share of the best score share the number of tools that one search loads. */
export const rivalServerShare = 0.9
/** Tokens that a search loads if no hit is clear. */
export const unclearTokens = 200
/** Tokens of unclear hits that a search loads in addition to clear ones. */
export const extraTokens = 500

// Fields

const usual = { dilution: 0.7, termLimit: 60 }

/**
 * - `dilution`: how much a long text dilutes its words (b of BM25), relative to the usual length of the field. The usual length is
 *   a constant, not an average, so a long tool cannot change the score of another tool and an update re-indexes only itself.
 * - `termLimit`: number of terms that are read.
 */
export const fieldLengths = {
  name: { ...usual, usualLength: 3 },
  alias: { ...usual, usualLength: 3 },
  server: { ...usual, usualLength: 2 },
  domain: { ...usual, usualLength: 2 },
  title: { ...usual, usualLength: 4 },
  hint: { ...usual, usualLength: 8 },
  snippet: { ...usual, usualLength: 12 },
  lead: { ...usual, usualLength: 12, dilution: 0.45 },
  description: { ...usual, usualLength: 12, termLimit: 300 },
  'parameter names': { ...usual, usualLength: 5, termLimit: 40 },
  parameters: { ...usual, usualLength: 20, dilution: 0.45, termLimit: 40 },
  'server description': { ...usual, usualLength: 12 },
} as const satisfies Partial<Record<FieldName, object>>

/** A term counts at most this often per field, so repeating it gains nothing. */
export const frequencyLimit = 2
/** Distinct terms, pairs and concepts that a normal tool has: 95 of 100 real tools have fewer than 120. */
export const usualTerms = 150
/** Share of its strength that a deprecated tool keeps: enough to be found if it has no replacement. */
export const deprecatedShare = 0.5

// Similarity

/** The best lexical score is 1. Chosen for a sentence encoder of the size of MiniLM. */
export const defaultSimilarityWeight = 0.8
/** Number of lexical hits that are reordered by similarity. Further down, similarity finds look-alikes more often than answers. */
export const rerankLimit = 50
/** If the lexical ranking finds fewer tools than this, the most similar tools fill the list. */
export const minimumHits = 20
/** Number of vectors with similarity 0 added to the sample, because a few vectors say little about what is usual. */
export const priorVectors = 2
/** Similarities below this are noise. */
export const minimumSimilarity = 0.2
/** A longer request mixes several subjects, so its vector counts less. */
export const fullSimilarityWords = 15
