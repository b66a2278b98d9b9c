/** Requests of a batch by the step in which each is done, the earliest first. A binary heap in two typed arrays. */
export class FinishHeap {
  size = 0;
  #steps = new Float64Array(16);
  #requests = new Int32Array(16);

  /** Infinity: it is empty. */
  get nextStep(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.#steps[0] as number);
  }

  push(step: number, request: number): void {
    if (this.size === this.#steps.length) this.#grow();
    const steps = this.#steps;
    const requests = this.#requests;
    let place = this.size++;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(step, request, steps[parent] as number, requests[parent] as number)) break;
      steps[place] = steps[parent] as number;
      requests[place] = requests[parent] as number;
      place = parent;
    }
    steps[place] = step;
    requests[place] = request;
  }

  /** The request that is done first; the heap must not be empty. */
  pop(): number {
    const steps = this.#steps;
    const requests = this.#requests;
    const first = requests[0] as number;
    const size = --this.size;
    const step = steps[size] as number;
    const request = requests[size] as number;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      const right = child + 1;
      if (
        right < size &&
        isBefore(steps[right] as number, requests[right] as number, steps[child] as number, requests[child] as number)
      ) {
        child = right;
      }
      if (!isBefore(steps[child] as number, requests[child] as number, step, request)) break;
      steps[place] = steps[child] as number;
      requests[place] = requests[child] as number;
      place = child;
    }
    steps[place] = step;
    requests[place] = request;
    return first;
  }

  #grow(): void {
    const steps = new Float64Array(2 * this.#steps.length);
    steps.set(this.#steps);
    const requests = new Int32Array(steps.length);
    requests.set(this.#requests);
    this.#steps = steps;
    this.#requests = requests;
  }
}

function isBefore(step: number, request: number, otherStep: number, otherRequest: number): boolean {
  return step < otherStep || (step === otherStep && request < otherRequest);
}
