import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isStopWord, stem, tokenize } from '../../src/search/words/tokenize.js'

describe('tokenize', () => {
  it('splits identifiers at separators', () => {
    expect(tokenize('mcp__git-hub/list_pull.request:x')).toEqual([
      'mcp',
      'git',
      'hub',
      'list',
      'pull',
      'request',
      'x',
    ])
  })

  it('splits mixed case and keeps short words whole as well', () => {
    expect(tokenize('GitHub')).toEqual(['git', 'hub', 'github'])
    expect(tokenize('HTTPServer')).toEqual(['http', 'server', 'httpserver'])
    expect(tokenize('getStoryByCount')).toEqual(['get', 'story', 'by', 'count'])
  })

  it('keeps plural acronyms and digits together', () => {
    expect(tokenize('URLs IDs oauth2 S3Bucket 2FA')).toEqual([
      'url',
      'ids',
      'oauth2',
      's3',
      'bucket',
      's3bucket',
      '2fa',
    ])
  })

  it('folds width and case', () => {
    expect(tokenize('ＦＵＬＬ ﬁle ÉCOLE')).toEqual(['full', 'file', 'école'])
  })

  it('cuts scripts without spaces into overlapping pairs', () => {
    expect(tokenize('搜索网页')).toEqual(['搜索', '索网', '网页'])
    expect(tokenize('ファイル')).toEqual(['ファ', 'ァイ', 'イル'])
    expect(tokenize('메일 보내')).toEqual(['메일', '보내'])
    expect(tokenize('查 MCP服务器、𠀀𠀁')).toEqual(['查', 'mcp', '服务', '务器', '𠀀𠀁'])
  })

  it('joins halfwidth kana with their full forms', () => {
    expect(tokenize('ﾌｧｲﾙ')).toEqual(tokenize('ファイル'))
  })

  it('answers whatever it is given with clean terms', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const term of tokenize(text)) {
          expect(term).not.toBe('')
          expect(term).not.toMatch(/[\s\p{Cs}\p{Cc}]/u)
          expect(term.length).toBeLessThanOrEqual(200)
        }
      }),
    )
    expect(tokenize('\ud800 \u0000')).toEqual([])
  })

  it('bounds the length of a term', () => {
    expect(tokenize('9'.repeat(5000))).toEqual(['9'.repeat(64)])
  })
})

describe('stem', () => {
  it.each([
    ['files', 'file'],
    ['queries', 'query'],
    ['movies', 'movie'],
    ['boxes', 'box'],
    ['branches', 'branch'],
    ['created', 'create'],
    ['creating', 'create'],
    ['creates', 'create'],
    ['running', 'run'],
    ['saving', 'save'],
    ['adding', 'add'],
    ['filling', 'fill'],
    ['shared', 'share'],
    ['settings', 'set'],
  ])('joins %s and %s', (one, other) => {
    expect(stem(one)).toBe(stem(other))
  })

  it.each([
    ['news', 'new'],
    ['string', 'str'],
    ['speed', 'spe'],
    ['status', 'statu'],
    ['analysis', 'analysi'],
    ['access', 'acces'],
    ['filling', 'file'],
    ['dns', 'dn'],
  ])('keeps %s apart from %s', (one, other) => {
    expect(stem(one)).not.toBe(stem(other))
  })

  it('leaves other alphabets alone', () => {
    for (const word of ['größes', 'файлы', 'oauth2s']) expect(stem(word)).toBe(word)
  })
})

describe('isStopWord', () => {
  it('is true for words that say nothing about the tool', () => {
    for (const word of ['Please', 'tools', '请']) expect(isStopWord(word)).toBe(true)
    expect(isStopWord('issues')).toBe(false)
  })

  it('compares words before stemming', () => {
    expect(isStopWord('themes')).toBe(false)
  })
})
