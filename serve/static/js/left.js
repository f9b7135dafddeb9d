// How long the rest of an upload takes. It is told only if what was read so far is of the same kinds as what is left:
// texts are read in a moment, and a film among them takes minutes.

const ENOUGH = 3; // files after which it is told

const kind = (name) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();
const bytes = (files) => files.reduce((sum, { size }) => sum + Math.max(1, size || 0), 0);

/**
 * Return the seconds, or 0 if nobody can tell.
 * @param {{name: string, size: number}[]} over files that were read
 * @param {{name: string, size: number, waits: boolean}[]} open files that are left; of one that `waits`, a part is read
 *   after all others: its pictures, or what is said in it
 * @param {number} seconds that it took to read those that are over
 */
export function secondsLeft(over, open, seconds) {
  const known = new Set(over.map(({ name }) => kind(name)));
  if (over.length < ENOUGH || open.some(({ name, waits }) => waits || !known.has(kind(name)))) return 0;
  return (seconds / bytes(over)) * bytes(open);
}
