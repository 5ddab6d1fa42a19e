// Takes a sample of events that arrive faster than they can be shown. Most of those that are left out are never parsed.

const PER_TICK = 24;
const MAX_PER_TICK = 200;
const KEPT_PER_TICK = 400;
const TICK_MS = 250;

/** Whether an entry is shown before others: everything that is not a plain exchange without errors. */
const matters = (entry) => entry.kind === "event" || entry.errors.length || entry.faults.length || entry.ended;

/**
 * Collects texts and hands over parsed entries four times in a second: `show(entries, leftOut)`. There are at most 24 on the average, and
 * more in a burst. Events, errors and faults are preferred, and the others are spread evenly.
 */
export function sampler(show) {
  let pending = [];
  let unparsed = 0;
  let room = MAX_PER_TICK;

  const timer = setInterval(() => {
    room = Math.min(room + PER_TICK, MAX_PER_TICK);
    if (!pending.length && !unparsed) return;
    const entries = pending.map((text) => JSON.parse(text));
    const chosen = choose(entries, room);
    room -= chosen.length;
    const leftOut = entries.length - chosen.length + unparsed;
    pending = [];
    unparsed = 0;
    show(chosen, leftOut);
  }, TICK_MS);

  return {
    add(text) {
      if (pending.length < KEPT_PER_TICK) pending.push(text);
      else unparsed += 1;
    },
    /** Forgets what has not been shown. */
    clear() {
      pending = [];
      unparsed = 0;
    },
    close: () => clearInterval(timer),
  };
}

function choose(entries, most) {
  if (entries.length <= most) return entries;
  const chosen = new Set(entries.filter(matters).slice(-most));
  const others = entries.filter((entry) => !chosen.has(entry));
  const rest = most - chosen.size;
  for (let index = 0; index < rest; index += 1) chosen.add(others[Math.floor((index * others.length) / rest)]);
  return entries.filter((entry) => chosen.has(entry));
}
