#include "cases.hpp"

namespace xtape::test {

GradCases einsum_grad_cases() {
  using Args = std::span<const Tensor>;
  GradCases cases;
  const auto product = [&](const char* equation, const Shape& a, const Shape& b) {
    cases.push_back({"matmul", std::string("einsum ") + equation, {sample(a, 131), sample(b, 132)}, [equation](Args x) {
                       return einsum(equation, x[0], x[1]);
                     }});
  };
  product("ij,jk->ik", {2, 3}, {3, 4});
  product("ij,jk->ki", {2, 3}, {3, 4});
  product("ji,kj", {3, 2}, {4, 3});
  product("i,j->ij", {2}, {3});
  product("i,i->", {3}, {3});
  product("bthd,bshd->bhts", {2, 3, 2, 4}, {2, 5, 2, 4});
  product("bhts,bshd->bthd", {2, 2, 3, 5}, {2, 5, 2, 4});
  product("abc,cd->abd", {2, 3, 4}, {4, 5});
  product("ijk,lk->jl", {2, 3, 4}, {5, 4});
  product("ij,ij->i", {2, 3}, {2, 3});
  product("ij,k->k", {2, 3}, {4});
  return cases;
}

}  // namespace xtape::test
