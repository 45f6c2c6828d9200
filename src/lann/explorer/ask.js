// The model in a worker: questions go to it one after another, and answers come back in turn.

import { findChange } from "./counterfactual.js";
import { unpack } from "./data.js";
import { Model } from "./model.js";

// Answers questions; it runs in the worker, or in the page where there is none.
class Engine {
  // Answer a question; all but the first one wait until the model is there.
  async answer(kind, question) {
    if (kind === "open") this.opening = this.open(question);
    await this.opening;
    return kind === "open" || this[kind](question);
  }

  async open({ text, columns, labels }) {
    const { header, arrays } = await unpack(text);
    this.model = new Model(header.model, { ...arrays, labels }, columns);
    this.model.points([]);
  }

  predict({ row, exclude }) {
    return this.model.predict(row, exclude);
  }

  // Predictions of a row with one change or another.
  predictAll({ rows, exclude }) {
    return rows.map((row) => this.model.predict(row, exclude).probabilities);
  }

  change(wish) {
    return findChange(this.model, wish);
  }

  contributions({ row, neighbors }) {
    return neighbors.map((j) => this.model.contributions(row, j));
  }

  // The curve of a column of numbers at some values.
  curve({ column, values }) {
    const { encoding } = this.model;
    return values.map((value) => encoding.curve(encoding.numbers.indexOf(column), value));
  }
}

// Answer the messages of a page.
export function serveWorker(scope) {
  const engine = new Engine();
  scope.onmessage = async ({ data: { number, kind, question } }) => {
    try {
      scope.postMessage({ number, answer: await engine.answer(kind, question) });
    } catch (error) {
      scope.postMessage({ number, error: String(error?.message ?? error) });
    }
  };
}

// Asks the engine, in a worker that runs the script of the page; in the page itself where workers are forbidden.
export class Asker {
  constructor(script) {
    this.waiting = new Map();
    this.count = 0;
    try {
      const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      this.worker = new Worker(url);
      this.worker.onmessage = ({ data }) => this.settle(data);
      this.worker.onerror = () => this.withoutWorker();
    } catch {
      this.withoutWorker();
    }
  }

  withoutWorker() {
    this.worker = null;
    this.engine = new Engine();
    for (const [number, { kind, question }] of this.waiting) this.answer(number, kind, question);
  }

  answer(number, kind, question) {
    setTimeout(async () => {
      try {
        this.settle({ number, answer: await this.engine.answer(kind, question) });
      } catch (error) {
        this.settle({ number, error: String(error?.message ?? error) });
      }
    });
  }

  settle({ number, answer, error }) {
    const { resolve, reject } = this.waiting.get(number);
    this.waiting.delete(number);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  }

  ask(kind, question = {}) {
    return new Promise((resolve, reject) => {
      const number = ++this.count;
      this.waiting.set(number, { resolve, reject, kind, question });
      if (this.worker) this.worker.postMessage({ number, kind, question });
      else this.answer(number, kind, question);
    });
  }
}
