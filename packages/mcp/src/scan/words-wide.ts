/**
 * English words that mean these ideas only beside the right object: "drop" a table is no matter, "drop" your instructions
 * is. Only rules whose object is beyond doubt look at them.
 */
import type { WordList } from './concepts.js'

export const wide: WordList = {
  ignore: `
    +drop +replace +release +cease +reset +wipe +erase +purge +delete +remove +rewrite rewritten +amend +exempt
    +deactivate switch_off switched_off +change +update +end +stop lose lost loses +suspend +quit +leave left +cancel
    +swap +substitute instead put_away not_any_more no_more any_more +limit +weaken +soften +modify +disable +mute
    +relax +reverse +withdraw withdrawn +terminate +finish over stale old invalid secondary unimportant optional
    put_away give_up gave_up cast_off turn_away turn_off disable`,
  put: `
    +store +save write writes writing written +set +record +list +state +mention +output +print +return +share +present
    +show +give given +hold held contain contains containing need needs needed +specify +log +report +copy +quote
    +summarise +summarize +explain +describe +tell +name +fill +type +enter +attach +require +expect +carry
    +bring +load +import +feed +dump +place +mirror +publish`,
  send: `
    +report +copy +give +tell +notify +log write written +store +save +share +hand
    +mirror +push +publish +record +register +pass +put +place +move end_up +direct`,
  read: `+take taken +list +record +parse +import +copy +note +compile +save get gets +look +print`,
  tell: `
    +describe +document +record +log +list +name +flag +surface +state +comment +note +report +expose +share +show
    +hint +write +include quiet silent +answer +display`,
  hide: `quiet omit leave_out cover internal as_if as_though unless_asked discretion omitted left_out out_of_it +delete`,
}
