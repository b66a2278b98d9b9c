/**
 * The lower triangle L with L L' = K of a symmetric matrix, both by rows (Cholesky and Banachiewicz, row by row); null:
 * K is not positive definite in the numbers that there are. A library of matrices would be most of a gateway's start.
 */
export function choleskyOf(matrix: Float64Array, size: number): Float64Array | null {
  const lower = new Float64Array(size * size);
  for (let row = 0; row < size; row += 1) {
    let squares = 0;
    for (let column = 0; column < row; column += 1) {
      let sum = 0;
      for (let k = 0; k < column; k += 1) {
        sum += (lower[column * size + k] as number) * (lower[row * size + k] as number);
      }
      const value = ((matrix[row * size + column] as number) - sum) / (lower[column * size + column] as number);
      lower[row * size + column] = value;
      squares += value * value;
    }
    const rest = (matrix[row * size + row] as number) - squares;
    if (!(rest > 0)) return null;
    lower[row * size + row] = Math.sqrt(rest);
  }
  return lower;
}
