import * as fc from "fast-check";
import { CholeskyDecomposition, Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import { Triangle } from "../../../src/placement/oracle/triangle.ts";

/** A positive definite matrix: B B' + 0.1. */
const positive = fc.integer({ min: 1, max: 9 }).chain((size) =>
  fc
    .array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size * size, maxLength: size * size })
    .map((flat) => {
      const root = Matrix.from1DArray(size, size, flat);
      return root.mmul(root.transpose()).add(Matrix.eye(size).mul(0.1));
    }),
);

function grown(matrix: Matrix): Triangle {
  const triangle = new Triangle(1);
  for (let i = 0; i < matrix.rows; i += 1) {
    triangle.append(Float64Array.from(matrix.getRow(i).slice(0, i)), matrix.get(i, i));
  }
  return triangle;
}

/** By how much the factor is not that of the matrix, at most. */
function offBy(triangle: Triangle, matrix: Matrix): number {
  if (triangle.size !== matrix.rows) return Infinity;
  const whole = new CholeskyDecomposition(matrix).lowerTriangularMatrix;
  let most = 0;
  for (let i = 0; i < matrix.rows; i += 1) {
    for (let j = 0; j <= i; j += 1) most = Math.max(most, Math.abs(triangle.at(i, j) - whole.get(i, j)));
  }
  return most;
}

describe("a factor that grows", () => {
  it("is the one of the whole matrix, row by row", () => {
    fc.assert(fc.property(positive, (matrix) => expect(offBy(grown(matrix), matrix)).toBeLessThan(1e-6)));
  });

  it("is that of what is left when a point is taken out", () => {
    fc.assert(
      fc.property(positive, fc.nat(), (matrix, pick) => {
        const at = pick % matrix.rows;
        const triangle = grown(matrix);
        triangle.remove(at);
        const left = Array.from({ length: matrix.rows }, (_, i) => i).filter((i) => i !== at);
        const off = left.length === 0 ? triangle.size : offBy(triangle, matrix.selection(left, left));
        expect(off).toBeLessThan(1e-6);
      }),
    );
  });

  it("solves as the matrix does, one right side at a time and four", () => {
    fc.assert(
      fc.property(positive, (matrix) => {
        const triangle = grown(matrix);
        const sides = Array.from({ length: 4 }, (_, r) => Float64Array.from(matrix.getColumn(0), (x, i) => x + r * i));
        const four = new Float64Array(4 * matrix.rows);
        for (const [r, side] of sides.entries()) for (const [i, x] of side.entries()) four[4 * i + r] = x;
        triangle.solveLowerFour(four);
        for (const [r, side] of sides.entries()) {
          const solved = side.slice();
          triangle.solveLower(solved);
          for (const [i, x] of solved.entries()) expect(four[4 * i + r]).toBeCloseTo(x, 6);
          triangle.solveUpper(solved);
          const back = matrix.mmul(Matrix.columnVector(Array.from(solved))).getColumn(0);
          for (const [i, x] of back.entries()) expect(x).toBeCloseTo(side[i], 5);
        }
      }),
    );
  });

  it("takes a point that is there already", () => {
    const triangle = new Triangle();
    triangle.append(new Float64Array(0), 1);
    triangle.append(Float64Array.of(1), 1);
    expect(triangle.at(1, 1)).toBeGreaterThan(0);
  });
});
