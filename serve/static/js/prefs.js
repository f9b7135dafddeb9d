// What this browser remembers. Storage may be closed; then nothing is remembered and everything still works.

function read(storage, key) {
  try {
    return JSON.parse(storage().getItem(`ragweave.${key}`));
  } catch {
    return null;
  }
}

function write(storage, key, value) {
  try {
    if (value === null || value === undefined) storage().removeItem(`ragweave.${key}`);
    else storage().setItem(`ragweave.${key}`, JSON.stringify(value));
  } catch {
    // Private windows may refuse.
  }
}

const local = () => window.localStorage;
const session = () => window.sessionStorage;

/** Kept in this browser. */
export const recall = (key, otherwise = null) => read(local, key) ?? otherwise;
export const remember = (key, value) => write(local, key, value);

/** Kept in this tab alone, so that two tabs do not mix. */
export const recallHere = (key, otherwise = null) => read(session, key) ?? otherwise;
export const rememberHere = (key, value) => write(session, key, value);
