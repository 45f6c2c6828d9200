// What is shown: one object that components listen to, kept in the address of the page.

// Those that the address has, and how they are written there: text, or anything as JSON.
const TEXTS = ["row", "tab", "map", "color", "search", "queue"];
const DOCUMENTS = ["filters", "sort", "group", "other", "edits", "frozen", "threshold"];

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
    for (const name of DOCUMENTS) {
      try {
        if (given.has(name)) found[name] = JSON.parse(given.get(name));
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
      for (const name of [...TEXTS, ...DOCUMENTS]) {
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
