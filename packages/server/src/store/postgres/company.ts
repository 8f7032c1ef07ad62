// Whether other instances are there to be told anything. Every instance says now and then that it is there, and the database
// gives what is said to all of them in one order, to whoever said it, too. So whoever hears itself again and again, and
// nobody else in between, is alone.

/** The others speak as often: whoever misses that many turns is not running, and is heard when it is again. */
const OWN_BEATS_ALONE = 3

export interface Company {
  hearOwnBeat(): void
  hearOther(): void
  isAlone(): boolean
  /** Before that there is no saying: nobody may have had time to answer. */
  isKnown(): boolean
}

export function createCompany(): Company {
  let ownBeats = 0
  let met = false
  return {
    hearOwnBeat: () => {
      ownBeats += 1
    },
    hearOther: () => {
      ownBeats = 0
      met = true
    },
    isAlone: () => ownBeats >= OWN_BEATS_ALONE,
    isKnown: () => met || ownBeats >= OWN_BEATS_ALONE,
  }
}
