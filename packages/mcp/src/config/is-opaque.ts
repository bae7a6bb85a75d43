/** Whether a text looks made by a machine: a key, a token, a hash. What looks like words may be shown where names are shown. */

/** Long, letters and digits in turns, or letters in an order that no word has. */
export function isOpaque(text: string): boolean {
  return text.split(/[-_./@:=]/).some((piece) => {
    const turns = piece.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
    return (
      piece.length > 24 ||
      (piece.length >= 6 && turns >= 2) ||
      (piece.length >= 12 && /\d/.test(piece)) ||
      (piece.length >= 8 && /^[A-Za-z]+$/.test(piece) && isJumbled(piece))
    )
  })
}

/** The 200 most frequent pairs of letters of English: of random letters, nineteen in twenty have too few of them, of names of packages hardly one. */
const PAIRS: ReadonlySet<string> = new Set(
  `th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce
  li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em
  ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay
  ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va
  um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ak pu ui rg ib tl ny ki rk ys`.split(
    /\s+/,
  ),
)

/** Capitals in the middle of a word more than twice, or mostly pairs that words do not have. */
function isJumbled(letters: string): boolean {
  if ((letters.match(/[a-z](?=[A-Z])/g)?.length ?? 0) > 2) return true
  const small = letters.toLowerCase()
  let usual = 0
  for (let at = 1; at < small.length; at++) if (PAIRS.has(small.slice(at - 1, at + 1))) usual++
  return usual / (small.length - 1) < 0.55
}
