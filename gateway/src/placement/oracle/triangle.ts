/**
 * The Cholesky factor L of a covariance matrix (L L' = K) that grows and shrinks by one point at a time.
 *
 * A library of matrices factors a whole one but can neither add a row to a factor nor take one out, and solves only with
 * L and L' together, into new matrices. A prediction needs L alone and no garbage: hence these few loops over one array,
 * which holds the rows of the lower triangle one after the other.
 */
export class Triangle {
  size = 0;
  #rows: Float64Array;

  constructor(capacity = 16) {
    this.#rows = new Float64Array(triangular(capacity));
  }

  /** Takes over the lower triangle of a whole square matrix, given by rows. */
  set(square: ArrayLike<number>, size: number): void {
    this.#reserve(size);
    for (let i = 0; i < size; i += 1) {
      const start = triangular(i);
      for (let j = 0; j <= i; j += 1) this.#rows[start + j] = square[i * size + j] as number;
    }
    this.size = size;
  }

  /** L[i][j], j <= i. */
  at(i: number, j: number): number {
    return this.#rows[triangular(i) + j] as number;
  }

  /**
   * One point more: `covariances` with those that are there (overwritten), `variance` its own. The Schur complement
   * `variance - |v|^2` is kept above zero, so that a point seen twice does no harm.
   */
  append(covariances: Float64Array, variance: number): void {
    const n = this.size;
    this.#reserve(n + 1);
    this.solveLower(covariances);
    let rest = variance;
    const start = triangular(n);
    for (let j = 0; j < n; j += 1) {
      const v = covariances[j] as number;
      this.#rows[start + j] = v;
      rest -= v * v;
    }
    this.#rows[start + n] = Math.sqrt(Math.max(rest, variance * 1e-12, Number.MIN_VALUE));
    this.size = n + 1;
  }

  /** Without one point: what its column carried goes to the rows behind it, by a rank-one update. O(n^2). */
  remove(at: number): void {
    const n = this.size;
    const rows = this.#rows;
    const column = new Float64Array(n - at - 1);
    for (let i = at + 1; i < n; i += 1) {
      const from = triangular(i);
      const to = triangular(i - 1);
      column[i - at - 1] = rows[from + at] as number;
      for (let j = 0; j < at; j += 1) rows[to + j] = rows[from + j] as number;
      for (let j = at + 1; j <= i; j += 1) rows[to + j - 1] = rows[from + j] as number;
    }
    this.size = n - 1;
    for (let k = 0; k < column.length; k += 1) {
      const place = triangular(at + k) + at + k;
      const diagonal = rows[place] as number;
      const x = column[k] as number;
      const length = Math.hypot(diagonal, x);
      const cos = length / diagonal;
      const sin = x / diagonal;
      rows[place] = length;
      for (let i = k + 1; i < column.length; i += 1) {
        const below = triangular(at + i) + at + k;
        const value = ((rows[below] as number) + sin * (column[i] as number)) / cos;
        column[i] = cos * (column[i] as number) - sin * value;
        rows[below] = value;
      }
    }
  }

  /** Overwrites b with L^-1 b. Four sums at a time: a single one would wait for each addition in turn. */
  solveLower(b: Float64Array): void {
    const rows = this.#rows;
    let start = 0;
    for (let i = 0; i < this.size; i += 1) {
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      let j = 0;
      for (; j + 3 < i; j += 4) {
        s0 += (rows[start + j] as number) * (b[j] as number);
        s1 += (rows[start + j + 1] as number) * (b[j + 1] as number);
        s2 += (rows[start + j + 2] as number) * (b[j + 2] as number);
        s3 += (rows[start + j + 3] as number) * (b[j + 3] as number);
      }
      for (; j < i; j += 1) s0 += (rows[start + j] as number) * (b[j] as number);
      b[i] = ((b[i] as number) - (s0 + s1 + (s2 + s3))) / (rows[start + i] as number);
      start += i + 1;
    }
  }

  /**
   * `solveLower` for four right sides at once, `b[4 i + r]`: each number of L is read once for all, which is what the
   * time goes into.
   */
  solveLowerFour(b: Float64Array): void {
    const rows = this.#rows;
    let start = 0;
    for (let i = 0; i < this.size; i += 1) {
      let s0 = b[4 * i] as number;
      let s1 = b[4 * i + 1] as number;
      let s2 = b[4 * i + 2] as number;
      let s3 = b[4 * i + 3] as number;
      for (let j = 0, at = 0; j < i; j += 1, at += 4) {
        const l = rows[start + j] as number;
        s0 -= l * (b[at] as number);
        s1 -= l * (b[at + 1] as number);
        s2 -= l * (b[at + 2] as number);
        s3 -= l * (b[at + 3] as number);
      }
      const diagonal = rows[start + i] as number;
      b[4 * i] = s0 / diagonal;
      b[4 * i + 1] = s1 / diagonal;
      b[4 * i + 2] = s2 / diagonal;
      b[4 * i + 3] = s3 / diagonal;
      start += i + 1;
    }
  }

  /** Overwrites b with L'^-1 b. */
  solveUpper(b: Float64Array): void {
    const rows = this.#rows;
    for (let i = this.size - 1; i >= 0; i -= 1) {
      const start = triangular(i);
      const x = (b[i] as number) / (rows[start + i] as number);
      b[i] = x;
      for (let j = 0; j < i; j += 1) b[j] = (b[j] as number) - x * (rows[start + j] as number);
    }
  }

  #reserve(size: number): void {
    const needed = triangular(size);
    if (this.#rows.length >= needed) return;
    const larger = new Float64Array(Math.max(needed, 2 * this.#rows.length));
    larger.set(this.#rows);
    this.#rows = larger;
  }
}

function triangular(n: number): number {
  return (n * (n + 1)) / 2;
}
