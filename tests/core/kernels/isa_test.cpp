// The kernels of all instruction sets compute the same results, and their object files export no symbols that could
// replace those of other files.
#include "isas.hpp"

#include <xtape/core/kernels/optim.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

using namespace xtape;
using namespace xtape::test;
using kernels::Binary;
using kernels::Isa;
using kernels::Unary;

namespace {

const std::size_t kLengths[] = {1, 5, 16, 33, 100, 1000};

/// Runs one kernel on fresh random arrays and returns its output.
using Run = std::function<Array(const Isa&, index_t n)>;

Array sample_row(index_t n) { return sample({n}, 99); }

std::vector<std::pair<std::string, Run>> all_runs() {
  std::vector<std::pair<std::string, Run>> runs;
  for (const Unary f :
       {Unary::exp, Unary::log, Unary::sqrt, Unary::tanh, Unary::sigmoid, Unary::relu, Unary::gelu, Unary::gelu_tanh}) {
    const std::string name = "unary " + std::to_string(static_cast<int>(f));
    const double low = f == Unary::log || f == Unary::sqrt ? 0.01 : -6;
    runs.emplace_back(name, [=](const Isa& isa, index_t n) {
      Array y = empty_array({n});
      isa.unary.value(f, {}, sample({n}, 1, low, 6).data(), y.data(), n);
      return y;
    });
    runs.emplace_back(name + " backward, added", [=](const Isa& isa, index_t n) {
      const Array x = sample({n}, 1, low, 6);
      Array y = empty_array({n}), dx = sample_row(n);
      isa.unary.value(f, {}, x.data(), y.data(), n);
      isa.unary.backward(f, {}, x.data(), y.data(), sample({n}, 2).data(), {dx.data(), true}, n);
      return dx;
    });
  }
  for (const Unary f : {Unary::gelu, Unary::gelu_tanh})
    runs.emplace_back("derivative " + std::to_string(static_cast<int>(f)), [=](const Isa& isa, index_t n) {
      Array y = empty_array({n}), derivative = empty_array({n});
      isa.unary.value_and_derivative(f, {}, sample({n}, 1, -6, 6).data(), y.data(), derivative.data(), n);
      return derivative;
    });
  for (const Binary f : {Binary::add, Binary::sub, Binary::mul, Binary::div, Binary::pow, Binary::mul_no_nan,
                         Binary::pow_base, Binary::pow_exponent})
    for (const index_t step_a : {0, 1})
      for (const index_t step_b : {0, 1})
        runs.emplace_back("binary " + std::to_string(static_cast<int>(f)), [=](const Isa& isa, index_t n) {
          Array y = empty_array({n});
          isa.arithmetic.binary(f, sample({n}, 1, 0.1, 3).data(), step_a, sample({n}, 2, 0.1, 3).data(), step_b,
                                y.data(), n);
          return y;
        });
  runs.emplace_back("affine", [=](const Isa& isa, index_t n) {
    Array y = empty_array({n});
    isa.arithmetic.affine(sample_row(n).data(), real(0.3), real(-2), y.data(), n);
    return y;
  });
  runs.emplace_back("product, added", [=](const Isa& isa, index_t n) {
    Array y = sample_row(n);
    isa.arithmetic.product(sample({n}, 1).data(), sample({n}, 2).data(), real(0.7), {y.data(), true}, n);
    return y;
  });
  runs.emplace_back("sums", [=](const Isa& isa, index_t n) {
    const Array x = sample({n}, 1, 0, 1), y = sample({n}, 2, 0, 1);
    return row({isa.reduce.sum(x.data(), n), isa.reduce.sum_of_squares(x.data(), n),
                isa.reduce.dot(x.data(), y.data(), n), static_cast<double>(isa.softmax.max(x.data(), n))});
  });
  runs.emplace_back("column sums", [=](const Isa& isa, index_t n) {
    Array y = empty_array({n});
    isa.reduce.column_sums(sample({7, n}, 1, 0, 1).data(), 7, n, n, y.data());
    return y;
  });
  runs.emplace_back("softmax", [=](const Isa& isa, index_t n) {
    Array y = empty_array({n});
    isa.softmax.softmax(sample({n}, 1, -5, 5).data(), y.data(), n);
    return y;
  });
  runs.emplace_back("softmax backward", [=](const Isa& isa, index_t n) {
    Array y = empty_array({n}), dx = sample_row(n);
    isa.softmax.softmax(sample({n}, 1, -5, 5).data(), y.data(), n);
    isa.softmax.softmax_backward(y.data(), sample({n}, 2).data(), {dx.data(), true}, n);
    return dx;
  });
  runs.emplace_back("log of a sum of exponentials", [=](const Isa& isa, index_t n) {
    const kernels::LogSum sum = isa.softmax.log_sum_exp(sample({n}, 1, -5, 5).data(), n);
    return row({static_cast<double>(sum.shift), sum.total});
  });
  runs.emplace_back("shifted exponentials", [=](const Isa& isa, index_t n) {
    Array y = empty_array({n});
    isa.softmax.scaled_exp(sample({n}, 1, -5, 1).data(), real(1.25), real(0.5), real(-0.1), {y.data()}, n);
    return y;
  });
  runs.emplace_back("layer norm and its gradients", [=](const Isa& isa, index_t n) {
    const Array x = sample({n}, 1, -2, 3), weight = sample({n}, 2, 0.5, 2), bias = sample({n}, 3), dy = sample({n}, 4);
    Array out = Tensor::zeros({4, n}).value();
    double mean = 0;
    real inverse = 0;
    isa.layer_norm.layer_norm({x.data(), weight.data(), bias.data(), 1e-2, 1, n}, 0, out.data(), &mean, &inverse);
    const kernels::NormRows in{x.data(), weight.data(), 1e-2, &mean, &inverse, dy.data(), 1, n};
    isa.layer_norm.layer_norm_backward(in, {out.data() + n}, out.data() + 2 * n, out.data() + 3 * n);
    return out;
  });
  runs.emplace_back("a transposed square", [=](const Isa& isa, std::size_t) {
    const index_t side = kernels::kSquare, step = side + 3, to_step = side + 1;
    const Array x = sample({side * step}, 1);
    Array y = sample_row(static_cast<std::size_t>(side * to_step));
    isa.shape.transpose(x.data(), step, 0, y.data(), to_step);
    for (index_t i = 0; i < side; ++i)
      for (index_t j = 0; j < side; ++j) CHECK(y.data()[i * to_step + j] == x.data()[j * step + i]);
    return y;
  });
  runs.emplace_back("adam", [=](const Isa& isa, index_t n) {
    Array value = sample({n}, 1), first = sample({n}, 2), second = sample({n}, 3, 0.1, 1);
    isa.optim.adam({0.9, 0.999, 1e-8, 1e-2, 1.5, 0.01, 0.02}, sample({n}, 4).data(), value.data(), first.data(),
                   second.data(), n);
    return value;
  });
  return runs;
}

/// The output of a command, line by line.
std::vector<std::string> symbol_lines(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe)) lines.emplace_back(buffer);
  const int status = ::pclose(pipe);
  REQUIRE_MESSAGE(status == 0, "failed: ", command);
  return lines;
}

}  // namespace

TEST_CASE("the kernels of all instruction sets agree to rounding") {
  const std::vector<const Isa*> isas = usable_isas();
  const Limits limits{tolerance(2e-14, 4e-6), tolerance(2e-14, 4e-6)};
  for (const auto& [name, run] : all_runs()) {
    for (const index_t n : kLengths) {
      const Array want = run(*isas[0], n);
      for (const Isa* isa : isas) {
        INFO(name, " ", isa->name, " against plain, length ", n);
        check_near(run(*isa, n), want, limits);
      }
    }
  }
}

TEST_CASE("the instruction sets with fused multiply-add give the same bits of exp") {
  const std::vector<const Isa*> isas = usable_isas();
  if (isas.size() < 3) return;
  const Array x = sample({100003}, 1, -110, 95);
  Array v3 = empty_array(x.shape()), v4 = empty_array(x.shape());
  isas[1]->unary.value(Unary::exp, {}, x.data(), v3.data(), 100003);
  isas[2]->unary.value(Unary::exp, {}, x.data(), v4.data(), 100003);
  check_equal(v3, v4);
}

TEST_CASE("the environment variable XTAPE_ISA selects the instruction set") {
  const char* wanted = std::getenv("XTAPE_ISA");
  const std::string best = usable_isas().back()->name;
  if (!wanted || !*wanted) CHECK(std::string(kernels::isa().name) == best);
  else if (std::string(wanted) == "plain") CHECK(std::string(kernels::isa().name) == "plain");
  else if (std::string(wanted) == "v3") CHECK(std::string(kernels::isa().name) == (best == "plain" ? "plain" : "v3"));
}

// The linker keeps one copy of a weak symbol. If that copy is compiled for a newer processor, the program crashes on an
// older one.
TEST_CASE("object files of an instruction set define symbols in their own namespace only") {
  if (!pool::caching()) return;  // sanitizers add symbols of their own
  namespace fs = std::filesystem;
  int objects = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(XTAPE_BINARY_DIR) / "CMakeFiles")) {
    if (entry.path().extension() != ".o" || entry.path().string().find("_kernels_") == std::string::npos) continue;
    std::string owner;  // mangled namespace; for example "N5xtape3f327kernels2v3" for "xtape_f32_kernels_v3.dir"
    for (const std::string part : entry.path())
      if (part.find("_kernels_") != std::string::npos) {
        const std::string isa = part.substr(part.rfind('_') + 1, part.rfind('.') - part.rfind('_') - 1);
        owner = "N5xtape3" + part.substr(6, 3) + "7kernels" + std::to_string(isa.size()) + isa;
      }
    ++objects;
    for (const std::string& line : symbol_lines("nm --defined-only '" + entry.path().string() + "'")) {
      const char type = line.size() > 17 ? line[17] : '?';
      const bool local = type >= 'a' && type <= 'z' && type != 'u' && type != 'v' && type != 'w';
      const bool weak = type == 'W' || type == 'V' || type == 'w' || type == 'v' || type == 'u';
      const bool own = line.find(owner) != std::string::npos;
      CHECK_MESSAGE((local || (own && !weak)), entry.path().filename().string(), " defines ", line);
    }
  }
  CHECK(objects >= 12);  // two dtypes, at least six files each
}
