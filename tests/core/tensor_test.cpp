// Tensor handles: shared values, undefined handles, items.
#include "support.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>

#include <thread>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a tensor shares its value with its copies") {
  const Tensor a = row({1, 2});
  const Tensor b = a, c = a.detach();
  CHECK(b.data() == a.data());
  CHECK(c.data() == a.data());
  CHECK(a.numel() == 2);
  CHECK(a.rank() == 1);
  CHECK(a.size(0) == 2);
  CHECK(a.size(-1) == 2);
  check_throws<ShapeError>([&] { (void)a.size(1); }, "[size] expected an axis of shape (2), got 1");
}

TEST_CASE("constants of a given shape") {
  check_equal(Tensor::zeros({2}).value(), row({0, 0}));
  check_equal(Tensor::ones({1, 2}).value(), array({1, 2}, {1, 1}));
  CHECK(Tensor::scalar(3).rank() == 0);
  CHECK(Tensor::zeros({2, 0}).numel() == 0);
}

TEST_CASE("item returns the only element") {
  CHECK(Tensor::scalar(3).item() == 3);
  CHECK(Tensor(array({1, 1}, {4})).item() == 4);
  check_throws<ShapeError>([] { (void)Tensor(row({1, 2})).item(); },
                           "[item] expected a tensor with one element, got (2)");
  check_throws<ShapeError>([] { (void)Tensor::zeros({0}).item(); }, "got (0)");
}

TEST_CASE("an undefined handle is refused with a clear error") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.tracked());
  check_throws<ValueError>([&] { (void)none.value(); }, "[tensor] this handle is empty: it holds no value");
  check_throws<ValueError>([&] { (void)none.shape(); }, "[tensor] this handle is empty");
  check_throws<ValueError>([&] { (void)none.item(); }, "[tensor] this handle is empty");
  check_throws<ValueError>([&] { (void)sum(none); }, "[tensor] this handle is empty");
  CHECK_FALSE(none.detach().defined());
}

TEST_CASE("handles may be copied and destroyed on many threads") {
  const Tensor shared = sample({1000}, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      for (int round = 0; round < 1000; ++round) {
        const Tensor sum = Tensor(shared) + Tensor(shared);
        if (sum.numel() != shared.numel()) throw 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  check_equal(shared.value(), sample({1000}, 1));
}
