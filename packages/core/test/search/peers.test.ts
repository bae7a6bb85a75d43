/** Cases from the suites of other tool searches, and earlier failures here. Each has the smallest catalogue that shows it. */
import { describe, expect, it } from 'vitest'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { SearchDocument } from '../../src/search/searcher.js'

function documentFor(name: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', parameters: '', description: '' }
  return { id: more.server ? `${more.server}/${name}` : name, name, server: '', ...empty, ...more }
}
function rank(documents: readonly SearchDocument[], text: string, must: readonly string[] = []) {
  const searcher = createLexicalSearcher()
  searcher.update({ put: documents })
  return searcher.rank({ text, must })
}
const first = (...given: Parameters<typeof rank>) => rank(...given)[0]?.id

const scheduling = [
  documentFor('cron_create', { description: 'Adds a recurring job.', hint: 'schedule recurring job timer' }),
  documentFor('cron_delete', {
    description: 'Removes a recurring job.',
    hint: 'schedule cron job timer create',
  }),
  documentFor('loop_wakeup', { description: 'Wakes the agent later.', hint: 'sleep pause' }),
]

describe('names and hints', () => {
  it('a name goes before a hint that holds as many words', () => {
    expect(first(scheduling, 'schedule loop wakeup')).toBe('loop_wakeup')
    expect(first(scheduling, 'create a cron job')).toBe('cron_create')
  })

  it.each(['stop', 'cancel'])('"%s" reaches what deletes', (verb) => {
    expect(first(scheduling, `${verb} the cron job`)).toBe('cron_delete')
  })
})

describe('+word', () => {
  const mail = [documentFor('send_email'), documentFor('send_letter')]

  it('takes a word of the same meaning where nobody is called by it', () => {
    expect(rank(mail, 'send', ['mail']).map(({ id }) => id)).toEqual(['send_email'])
  })

  it('takes the word itself where somebody is', () => {
    const both = [...mail, documentFor('mail_merge', { description: 'Sends many.' })]
    expect(rank(both, 'send', ['mail']).map(({ id }) => id)).toEqual(['mail_merge'])
  })
})

describe('words', () => {
  it('C++ and C# are two languages, however they are written', () => {
    const languages = [
      documentFor('compile_a', { description: 'Compiles C# code.' }),
      documentFor('compile_b', { description: 'Compiles C++ code.' }),
    ]
    expect(first(languages, 'compile C++')).toBe('compile_b')
    expect(first(languages, 'compile C++11')).toBe('compile_b')
    expect(first(languages, 'compile c#')).toBe('compile_a')
    expect(first(languages, 'compile C#12')).toBe('compile_a')
    expect(first(languages, 'compile csharp')).toBe('compile_a')
    expect(first(languages, 'compile cpp')).toBe('compile_b')
  })

  it('a server whose name is a word that says nothing is found by it', () => {
    const documents = [documentFor('ping', { server: 'a' }), documentFor('ping', { server: 'b' })]
    expect(rank(documents, 'a').map(({ id }) => id)).toEqual(['a/ping'])
    expect(rank(documents, 'please')).toEqual([])
  })

  it('a deprecated tool ranks after its successor', () => {
    const files = [
      documentFor('read_file', {
        description: 'Reads the contents of a file as text. DEPRECATED: use read_text_file.',
      }),
      documentFor('read_text_file', { description: 'Reads the contents of a file as text.' }),
    ]
    expect(first(files, 'show me the contents of a file')).toBe('read_text_file')
    expect(first(files, 'read_file')).toBe('read_file')
  })
})

describe('certainty', () => {
  it('is the same however many tools stand before', () => {
    const many = Array.from({ length: 60 }, (_, at) => documentFor(`open_issue_${at}`))
    const certainties = new Set(rank(many, 'open issue').map(({ certainty }) => certainty))
    expect([...certainties]).toEqual([1])
  })
})
