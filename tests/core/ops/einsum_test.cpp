// einsum, dot and outer: forms, agreement with a plain loop, errors.
#include "core/evaluate.hpp"

#include <map>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Sums over every letter by a plain loop. The equation must have no spaces and an explicit result.
Array by_loops(const std::string& equation, const Array& a, const Array& b) {
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  const std::string names[3] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                                equation.substr(arrow + 2)};
  std::map<char, std::size_t> size, position;
  for (std::size_t i = 0; i < names[0].size(); ++i) size[names[0][i]] = a.shape()[i];
  for (std::size_t i = 0; i < names[1].size(); ++i) size[names[1][i]] = b.shape()[i];
  Shape shape;
  for (char letter : names[2]) shape.push_back(size[letter]);
  std::vector<double> sums(static_cast<std::size_t>(element_count(shape)), 0.0);
  const auto offset = [&](const std::string& letters) {
    std::size_t at = 0;
    for (char letter : letters) at = at * size[letter] + position[letter];
    return at;
  };
  for (auto& [letter, at] : size) position[letter] = 0;
  for (bool more = true; more;) {
    sums[offset(names[2])] +=
        static_cast<double>(a.data()[offset(names[0])]) * static_cast<double>(b.data()[offset(names[1])]);
    more = false;
    for (auto& [letter, at] : position) {
      if (++at < size[letter]) {
        more = true;
        break;
      }
      at = 0;
    }
  }
  Array out = empty_array(shape);
  for (std::size_t i = 0; i < sums.size(); ++i) out.data()[i] = static_cast<real>(sums[i]);
  return out;
}

}  // namespace

TEST_CASE("einsum agrees with a plain loop for the usual equations") {
  const std::map<char, std::size_t> sizes = {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}, {'h', 2}, {'t', 3}, {'s', 4}};
  for (const char* equation :
       {"ab,bc->ac",       "ab,bc->ca",       "ba,bc->ac",    "ab,cb->ac",   "ba,cb->ca",   "a,a->",
        "a,b->ab",         "a,b->ba",         "ab,ab->ab",    "ab,ab->a",    "ab,ab->",     "ab,b->a",
        "a,ab->b",         "abc,acd->abd",    "abc,adc->abd", "abc,bcd->ad", "abc,cd->abd", "abc,dc->dab",
        "bthd,bshd->bhts", "bhts,bshd->bthd", "abcd,cd->ab",  "ab,->ab",     ",->",         "ab,cd->bd",
        "ab,cd->",         "abc,c->b",        "tab,ta->bt"}) {
    const std::string text = equation;
    const std::size_t comma = text.find(',');
    Shape a, b;
    for (char letter : text.substr(0, comma)) a.push_back(sizes.at(letter));
    for (char letter : text.substr(comma + 1, text.find("->") - comma - 1)) b.push_back(sizes.at(letter));
    const Array left = sample(a, 1), right = sample(b, 2);
    INFO(text);
    check_near(einsum(text, left, right).value(), by_loops(text, left, right),
               {tolerance(1e-12, 1e-5), tolerance(1e-12, 2e-6)});
  }
}

TEST_CASE("einsum without an arrow keeps the letters that occur once, in alphabetical order") {
  const Tensor a = sample({2, 3}, 1), b = sample({3, 4}, 2);
  check_equal(einsum("ij, jk", a, b).value(), einsum("ij,jk->ik", a, b).value());
  check_equal(einsum("kj,ji", a, b).value(), einsum("kj,ji->ik", a, b).value());
  CHECK(einsum("i,i", row({1, 2}), row({3, 4})).item() == 11);
}

TEST_CASE("einsum of empty axes") {
  check_equal(einsum("ab,bc->ac", Tensor::zeros({2, 0}), Tensor::zeros({0, 3})).value(), Tensor::zeros({2, 3}).value());
  CHECK(einsum("ab,bc->ac", Tensor::zeros({0, 2}), Tensor::zeros({2, 3})).shape() == Shape{0, 3});
}

TEST_CASE("einsum refuses malformed equations") {
  const Tensor a = sample({2, 3}, 1), b = sample({3, 4}, 2), square = sample({2, 2}, 3);
  check_throws<ValueError>([&] { einsum("ij->ij", a, b); }, "[einsum] expected an equation of two operands");
  check_throws<ValueError>([&] { einsum("ij,jk,kl->il", a, b); }, "[einsum] expected an equation of two operands");
  check_throws<ValueError>([&] { einsum("i1,1k->ik", a, b); }, "[einsum] expected letters as names of axes, got '1'");
  check_throws<ValueError>([&] { einsum("ij,jk->ii", a, b); },
                           "[einsum] expected each letter once in the result, got 'i' twice");
  check_throws<ValueError>([&] { einsum("ij,jk->il", a, b); },
                           "[einsum] expected letters of the operands in the result, got 'l'");
  check_throws<UnsupportedError>([&] { einsum("ii,ij->ij", square, square); },
                                 "[einsum] 'i' twice in the first operand");
  check_throws<UnsupportedError>([&] { einsum("ij,jj->ij", square, square); }, "[einsum] 'j' twice in the second");
  check_throws<UnsupportedError>([&] { einsum("...ij,jk->...ik", a, b); }, "[einsum] '...' is not offered");
}

TEST_CASE("einsum refuses operands that do not match the equation") {
  const Tensor a = sample({2, 3}, 1), b = sample({4, 5}, 2), one = sample({1, 5}, 3);
  check_throws<ShapeError>([&] { einsum("ijk,kl->ijl", a, b); },
                           "[einsum] expected operands with the axes ijk and kl, got (2,3) and (4,5)");
  check_throws<ShapeError>([&] { einsum("ij,jk->ik", a, b); }, "[einsum] expected one size of 'j', got");
  check_throws<ShapeError>([&] { einsum("ij,jk->ik", a, one); }, "expected one size of 'j', got (2,3) and (1,5)");
}

TEST_CASE("dot and outer accept vectors only") {
  const Tensor a = row({1, 2, 3}), b = row({4, 5, 6}), two = row({7, 8});
  CHECK(dot(a, b).item() == 32);
  CHECK(dot(a, b).rank() == 0);
  check_equal(outer(two, a).value(), array({2, 3}, {7, 14, 21, 8, 16, 24}));
  check_throws<ShapeError>([&] { dot(a, two); }, "[dot] expected vectors of one length, got (3) and (2)");
  const Tensor matrix = sample({3, 1}, 1);
  check_throws<ShapeError>([&] { dot(a, matrix); }, "[dot] expected two vectors, got");
  check_throws<ShapeError>([&] { outer(matrix, a); }, "[outer] expected two vectors, got");
}
