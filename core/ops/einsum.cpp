#include <xtape/core/error.hpp>
#include <xtape/core/ops/einsum.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

/// The letters of the operands and of the result.
struct Equation {
  std::string a, b, out;
};

void check_letters(const std::string& letters, const char* where) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    const bool known = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!known) throw ValueError("einsum", "letters as names of axes", "'" + std::string(1, letter) + "'");
    if (letters.find(letter, i + 1) == std::string::npos) continue;
    const std::string twice = "'" + std::string(1, letter) + "' twice";
    if (where == std::string("the result")) throw ValueError("einsum", "each letter once in the result", twice);
    throw UnsupportedError("einsum", twice + " in " + where + ": diagonals are not offered");
  }
}

/// The letters of `first`, then those of `second`, that occur in one of them only: the result if none is given.
std::string implied(const std::string& a, const std::string& b) {
  std::string out;
  for (char letter : a + b)
    if (has(a, letter) != has(b, letter)) out += letter;
  std::sort(out.begin(), out.end());
  return out;
}

Equation parsed(std::string_view text) {
  std::string s(text);
  std::erase(s, ' ');
  if (s.find("...") != std::string::npos) throw UnsupportedError("einsum", "'...' is not offered: name every axis");
  const std::size_t arrow = s.find("->");
  const std::string left = s.substr(0, arrow);
  const std::size_t comma = left.find(',');
  if (comma == std::string::npos || left.find(',', comma + 1) != std::string::npos)
    throw ValueError("einsum", "an equation of two operands, as in \"ij,jk->ik\"", "\"" + s + "\"");
  Equation e{left.substr(0, comma), left.substr(comma + 1), {}};
  check_letters(e.a, "the first operand");
  check_letters(e.b, "the second operand");
  e.out = arrow == std::string::npos ? implied(e.a, e.b) : s.substr(arrow + 2);
  check_letters(e.out, "the result");
  for (char letter : e.out)
    if (!has(e.a, letter) && !has(e.b, letter))
      throw ValueError("einsum", "letters of the operands in the result", "'" + std::string(1, letter) + "'");
  return e;
}

/// x with another shape; x itself if it has that shape.
Tensor reshaped(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

/// An operand, summed over the axes that neither the other operand nor the result has.
struct MatrixOperand {
  Tensor x;
  std::string letters;

  MatrixOperand(const Tensor& operand, const std::string& names, const std::string& elsewhere) : x(operand) {
    Axes lonely;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (has(elsewhere, names[i])) letters += names[i];
      else lonely.push_back(i);
    }
    if (!lonely.empty()) x = sum(x, lonely);
  }

  index_t size(char letter) const { return x.size(letters.find(letter)); }

  index_t size(const std::string& group) const {
    index_t product = 1;
    for (char letter : group) product *= size(letter);
    return product;
  }

  /// As [batch..., rows, columns]; a copy only if the axes are in another order.
  Tensor matrices(const std::string& batch, const std::string& rows, const std::string& columns) const {
    const std::string order = batch + rows + columns;
    Axes axes;
    Shape shape;
    for (char letter : order) axes.push_back(letters.find(letter));
    for (char letter : batch) shape.push_back(size(letter));
    shape.push_back(size(rows));
    shape.push_back(size(columns));
    return reshaped(order == letters ? x : permute(x, axes), shape);
  }
};

void check_sizes(const Equation& e, const Tensor& a, const Tensor& b) {
  if (a.rank() != std::ssize(e.a) || b.rank() != std::ssize(e.b))
    throw ShapeError("einsum", "operands with the axes " + e.a + " and " + e.b, a.shape(), b.shape());
  for (std::size_t i = 0; i < e.a.size(); ++i) {
    const std::size_t other = e.b.find(e.a[i]);
    if (other != std::string::npos && a.shape()[i] != b.shape()[other])
      throw ShapeError("einsum", std::string("one size of '") + e.a[i] + "'", a.shape(), b.shape());
  }
}

}  // namespace

Tensor einsum(std::string_view equation, const Tensor& a, const Tensor& b) {
  const Equation e = parsed(equation);
  check_sizes(e, a, b);
  const MatrixOperand left(a, e.a, e.b + e.out), right(b, e.b, e.a + e.out);
  std::string batch, rows, columns, inner;
  for (char letter : e.out) {
    const bool in_left = has(left.letters, letter), in_right = has(right.letters, letter);
    (in_left && in_right ? batch : in_left ? rows : columns) += letter;
  }
  for (char letter : left.letters)
    if (!has(e.out, letter)) inner += letter;
  const bool transpose_left = left.letters == batch + inner + rows;
  const bool transpose_right = right.letters == batch + columns + inner;
  const Tensor x = transpose_left ? left.matrices(batch, inner, rows) : left.matrices(batch, rows, inner);
  const Tensor y = transpose_right ? right.matrices(batch, columns, inner) : right.matrices(batch, inner, columns);
  const Tensor product = matmul(x, y, {.transpose_a = transpose_left, .transpose_b = transpose_right});
  Axes order;
  Shape shape;
  const std::string letters = batch + rows + columns;
  for (char letter : letters) shape.push_back((has(left.letters, letter) ? left : right).size(letter));
  for (char letter : e.out) order.push_back(letters.find(letter));
  const Tensor result = reshaped(product, shape);
  return letters == e.out ? result : permute(result, order);
}

}  // namespace xtape::inline XTAPE_DTYPE
