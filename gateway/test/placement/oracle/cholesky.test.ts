import * as fc from "fast-check";
import { CholeskyDecomposition, Matrix } from "ml-matrix";
import { expect, it } from "vitest";
import { choleskyOf } from "../../../src/placement/oracle/cholesky.ts";

/** Symmetric ones: B B' less some of the diagonal, so that about half of them are not positive definite. */
const symmetric = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.double({ min: -0.5, max: 0.5, noNaN: true }))
  .chain(([size, less]) =>
    fc
      .array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size * size, maxLength: size * size })
      .map((flat) => {
        const root = Matrix.from1DArray(size, size, flat);
        return root.mmul(root.transpose()).sub(Matrix.eye(size).mul(less));
      }),
  );

it("is the factor that a library of matrices finds, and none where that finds none", () => {
  fc.assert(
    fc.property(symmetric, (matrix) => {
      const known = new CholeskyDecomposition(matrix);
      const found = choleskyOf(Float64Array.from(matrix.to1DArray()), matrix.rows);
      expect(found === null ? null : Array.from(found)).toEqual(
        known.isPositiveDefinite() ? known.lowerTriangularMatrix.to1DArray() : null,
      );
    }),
  );
});
