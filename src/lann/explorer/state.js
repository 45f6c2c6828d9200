// What is shown: one object that components listen to, kept in the address of the page.

// Those that the address has, and how they are written there: text, or JSON that passes a check.
const TEXTS = ["row", "tab", "map", "color", "search", "queue"];
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const areFilters = (value) => Array.isArray(value) && value.every(isObject);
const isGroup = (value) => value === null || (isObject(value) && areFilters(value.filters ?? []));
const DOCUMENTS = {
  filters: areFilters,
  sort: (value) => value === null || isObject(value),
  group: isGroup,
  other: isGroup,
  edits: isObject,
  frozen: Array.isArray,
  threshold: Number.isFinite,
};

export class State {
  constructor(defaults) {
    this.defaults = defaults;
    this.values = { ...defaults };
    this.listeners = [];
    this.fromAddress();
    window.addEventListener("hashchange", () => this.set(this.read()));
  }

  get(name) {
    return this.values[name];
  }

  // Change values, and call the listeners of those that are different now.
  set(changes) {
    const names = Object.keys(changes).filter((name) => JSON.stringify(changes[name]) !== JSON.stringify(this.values[name]));
    if (!names.length) return;
    Object.assign(this.values, changes);
    for (const { keys, listener } of this.listeners) if (keys.some((key) => names.includes(key))) listener(names);
    this.toAddress();
  }

  on(keys, listener) {
    this.listeners.push({ keys, listener });
  }

  read() {
    const found = { ...this.defaults };
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of TEXTS) if (given.has(name)) found[name] = given.get(name);
    for (const [name, isValid] of Object.entries(DOCUMENTS)) {
      try {
        const value = given.has(name) ? JSON.parse(given.get(name)) : undefined;
        if (isValid(value)) found[name] = value;
      } catch {
        // An address that was cut or changed by hand: what can be read counts.
      }
    }
    return found;
  }

  fromAddress() {
    Object.assign(this.values, this.read());
  }

  // The address, without what is as usual; at most a few times per second, as browsers limit it.
  toAddress() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const parts = new URLSearchParams();
      for (const name of [...TEXTS, ...Object.keys(DOCUMENTS)]) {
        const value = this.values[name];
        if (JSON.stringify(value) === JSON.stringify(this.defaults[name])) continue;
        parts.set(name, TEXTS.includes(name) ? value : JSON.stringify(value));
      }
      try {
        history.replaceState(null, "", `#${parts}`);
      } catch {
        // The page is in a frame without an address.
      }
    }, 250);
  }
}
