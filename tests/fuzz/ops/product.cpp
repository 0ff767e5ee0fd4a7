// Products of matrices and vectors.
#include "check.hpp"

namespace xtape::fuzz {

namespace {

void try_matmul(Choices& choices) {
  const Dimensions shape = choices.shape();
  const Plain a = choices.numbers(shape);
  Dimensions other = choices.like(shape);
  if (other.size() >= 2) {  // so that the inner dimensions match in most cases
    other[other.size() - 1] = choices.within(0, 9);
    if (choices.below(8) != 1) other[other.size() - 2] = shape.back();
  }
  if (count_of(other) > 4000) other = {shape.empty() ? 1 : shape.back()};
  const Plain b = choices.numbers(other);
  std::optional<Plain> want;
  if (a.rank() > 0 && b.rank() > 0) {
    Plain left = a, right = b;
    if (a.rank() == 1) left.shape.insert(left.shape.begin(), 1);
    if (b.rank() == 1) right.shape.push_back(1);
    const std::int64_t rows = left.shape[left.shape.size() - 2], inner = left.shape.back(),
                       columns = right.shape.back();
    const auto batch =
        broadcast({left.shape.begin(), left.shape.end() - 2}, {right.shape.begin(), right.shape.end() - 2});
    if (batch && right.shape[right.shape.size() - 2] == inner) {
      Dimensions full = *batch;
      full.push_back(rows), full.push_back(columns);
      // A size of 1 may also be broadcast to 1. This makes no difference, because its index is 0.
      want = plain(full, [&](const Index& index) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          Index i = index, j = index;
          i.back() = k;
          j[j.size() - 2] = k;
          sum += left.at(i) * right.at(j);
        }
        return sum;
      });
      if (b.rank() == 1) want->shape.pop_back();
      if (a.rank() == 1) want->shape.erase(want->shape.end() - (b.rank() == 1 ? 1 : 2));
    }
  }
  check("matmul", {a, b}, [](const auto& t) { return matmul(t[0], t[1]); }, want);
}

void try_linear(Choices& choices) {
  const Dimensions shape = choices.shape();
  const Plain x = choices.numbers(shape);
  const std::int64_t inner = shape.empty() || choices.below(8) == 1 ? choices.within(0, 5) : shape.back();
  const Plain weight = choices.numbers({choices.within(0, 20), inner});
  const bool biased = choices.yes();
  const Plain bias = choices.numbers({choices.below(8) == 1 ? choices.within(0, 5) : weight.shape[0]});
  std::optional<Plain> want;
  if (!shape.empty() && shape.back() == inner && (!biased || bias.shape[0] == weight.shape[0])) {
    Dimensions full = shape;
    full.back() = weight.shape[0];
    want = plain(full, [&](const Index& index) {
      double sum = biased ? bias.values[index.back()] : 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        Index i = index;
        i.back() = k;
        sum += x.at(i) * weight.values[index.back() * inner + k];
      }
      return sum;
    });
  }
  if (biased) check("linear", {x, weight, bias}, [](const auto& t) { return linear(t[0], t[1], t[2]); }, want);
  else check("linear", {x, weight}, [](const auto& t) { return linear(t[0], t[1]); }, want);
}

void try_vectors(Choices& choices) {
  const Dimensions shape = choices.below(4) == 1 ? choices.shape() : choices.shape_of(1);
  const Plain a = choices.numbers(shape), b = choices.numbers(choices.below(4) == 1 ? choices.shape() : shape);
  const bool vectors = a.rank() == 1 && b.rank() == 1;
  if (choices.yes()) {
    std::optional<Plain> want;
    if (vectors && a.shape == b.shape) {
      want = Plain{{}, {0}};
      for (std::size_t i = 0; i < a.values.size(); ++i) want->values[0] += a.values[i] * b.values[i];
    }
    return check("dot", {a, b}, [](const auto& t) { return dot(t[0], t[1]); }, want);
  }
  std::optional<Plain> want;
  if (vectors) want = plain({a.shape[0], b.shape[0]}, [&](const Index& i) { return a.values[i[0]] * b.values[i[1]]; });
  check("outer", {a, b}, [](const auto& t) { return outer(t[0], t[1]); }, want);
}

/// einsum over the letters a, b, c. Every letter of a result occurs in an operand.
void try_einsum(Choices& choices) {
  static constexpr const char* kEquations[][3] = {{"ab", "bc", "ac"}, {"ab", "cb", "ca"}, {"abc", "ac", "b"},
                                                  {"a", "b", "ab"},   {"ab", "ab", ""},   {"abc", "cb", "abc"},
                                                  {"ba", "c", "cab"}};
  const auto& equation = kEquations[choices.below(7)];
  const std::string left = equation[0], right = equation[1], result = equation[2];
  const std::int64_t sizes[] = {choices.within(0, 5), choices.within(1, 9), choices.within(0, 4)};
  const auto shape_for = [&](const std::string& letters) {
    Dimensions out;
    for (char letter : letters) out.push_back(sizes[letter - 'a']);
    return out;
  };
  Dimensions changed = shape_for(right);
  const bool wrong = choices.below(6) == 1 && left.find(right[0]) != std::string::npos;
  if (wrong) ++changed[0];
  const Plain a = choices.numbers(shape_for(left)), b = choices.numbers(changed);
  std::optional<Plain> want;
  if (!wrong) {
    want = plain(shape_for(result), [](const Index&) { return 0.0; });
    for_each({sizes[0], sizes[1], sizes[2]}, [&](const Index& all) {
      const auto at = [&](const std::string& letters) {
        Index out;
        for (char letter : letters) out.push_back(all[letter - 'a']);
        return out;
      };
      for (int i = 0; i < 3; ++i)  // a letter that occurs in no operand is not summed over
        if (all[i] > 0 && (left + right).find(static_cast<char>('a' + i)) == std::string::npos) return;
      std::int64_t place = 0;
      for (char letter : result) place = place * sizes[letter - 'a'] + all[letter - 'a'];
      want->values[place] += a.at(at(left)) * b.at(at(right));
    });
    for (int i = 0; i < 3; ++i)
      if (sizes[i] == 0 && (left + right).find(static_cast<char>('a' + i)) == std::string::npos) return;
  }
  check("einsum", {a, b}, [&](const auto& t) { return einsum(left + "," + right + "->" + result, t[0], t[1]); }, want);
}

}  // namespace

void try_product(Choices& choices) {
  static constexpr void (*kOps[])(Choices&) = {try_matmul, try_linear, try_vectors, try_einsum};
  kOps[choices.below(4)](choices);
}

}  // namespace xtape::fuzz
