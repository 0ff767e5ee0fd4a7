#include <xtape/nn/init.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

TransformerLMConfig small(bool tied) {
  return {.vocab = 5, .context = 4, .width = 4, .heads = 2, .layers = 1, .tied_head = tied};
}

}  // namespace

TEST_CASE("weights and buffers come back as they were") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  ParamStore one(1), two(2);
  for (ParamStore* store : {&one, &two}) {
    const Linear a(store->root() / "a", 2, 3);
    BatchNorm b(store->root() / "b", 3);
    b.running_mean.set_value(row({1, 2, static_cast<double>(store->seed())}));
  }
  save_weights(path, one, {{"key", "text"}});
  CHECK(SafetensorsFile(path).metadata().at("key") == "text");
  load_weights(path, two);
  for (const auto& [name, parameter] : one.entries()) check_equal(two.parameter(name).value(), parameter.value());
  for (const Buffer& buffer : one.buffers()) check_equal(two.buffer(buffer.name()).value(), buffer.value());
}

TEST_CASE("counters are 64-bit integers in files, and files with floats for them load too") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  ParamStore store(1), other(2);
  BatchNorm layer(store.root(), 1, {.affine = false}), same(other.root(), 1, {.affine = false});
  const index_t count = (index_t{1} << 53) + 1;
  layer.num_batches_tracked.set_value(full_array<IndexArray>({}, count));
  save_weights(path, store);
  {
    const SafetensorsFile file(path);
    REQUIRE(file.find("num_batches_tracked") != nullptr);
    CHECK(file.find("num_batches_tracked")->dtype == DType::i64);
    load_weights(file, other);
  }
  CHECK(same.num_batches_tracked.value()() == count);
  const float statistics[] = {0.5F, 2.0F};
  const auto with_counter = [&](float counter) {
    write_safetensors(path, {{"running_mean", DType::f32, {1}, bytes_of(statistics, 1)},
                             {"running_var", DType::f32, {1}, bytes_of(statistics + 1, 1)},
                             {"num_batches_tracked", DType::f32, {}, bytes_of(&counter, 1)}});
    load_weights(path, other);
  };
  with_counter(7);
  CHECK(same.num_batches_tracked.value()() == 7);
  check_throws<MismatchError>([&] { with_counter(7.5F); }, "element 0 of type F32 does not fit the type of indices");
  CHECK(same.num_batches_tracked.value()() == 7);
}

TEST_CASE("tied weights are stored once and load into tied and untied models") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  ParamStore tied(1), untied(2), tied_too(3);
  const TransformerLM a(tied.root(), small(true)), b(untied.root(), small(false)), c(tied_too.root(), small(true));
  save_weights(path, tied);
  const SafetensorsFile file(path);
  CHECK(file.find("head.weight") == nullptr);
  CHECK(file.metadata().at("head.weight") == "token_embedding.weight");
  CHECK(shapes_of(named_weights(file)).contains("head.weight"));
  load_weights(path, untied);
  check_equal(untied.parameter("head.weight").value(), tied.parameter("token_embedding.weight").value());
  const IndexArray ids = indices({1, 3}, {0, 4, 2});
  check_near(b(ids).value(), a(ids).value());
  save_weights(path, untied);  // both names, with the same bytes
  load_weights(path, tied_too);
  check_equal(c(ids).value(), a(ids).value());
  untied.parameter("head.weight").edit()[3] += 1;
  save_weights(path, untied);
  check_throws<MismatchError>([&] { load_weights(path, tied_too); },
                              "head.weight is not the same as token_embedding.weight, to which it is tied here");
}

TEST_CASE("weights that do not fit are listed, and the model stays as it was") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::vector<double> numbers = {1, 2, 3, 4, 1e300, 6};
  write_safetensors(path, {{"a.weight", DType::f64, {2, 3}, bytes_of(numbers.data(), 6)},
                           {"more", DType::f64, {1}, bytes_of(numbers.data(), 1)},
                           {"b.weight", DType::f64, {1, 6}, bytes_of(numbers.data(), 6)}});
  ParamStore store;
  const Linear a(store.root() / "a", 2, 3), b(store.root() / "b", 6, 1, {.bias = false});
  const Snapshot before = store.snapshot();
  check_throws<MismatchError>([&] { load_weights(path, store); },
                              "[load_weights] " + path +
                                  " does not fit: missing a.bias; unexpected more; shape of "
                                  "a.weight: expected (3,2), got (2,3)");
  if (!kDouble)
    check_throws<MismatchError>([&] { load_weights(path, store); },
                                "element 4 of type F64 does not fit the type float");
  for (std::size_t i = 0; i < before.parameters.size(); ++i)
    check_equal(store.parameters()[i].value(), before.parameters[i].second);
}

TEST_CASE("a name map says what foreign names mean") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::vector<float> numbers = {1, 2};
  const std::string map = work.write("map.json", R"({"fc": "a", "mask": null})");
  write_safetensors(path, {{"fc.weight", DType::f32, {2, 1}, bytes_of(numbers.data(), 2)},
                           {"mask", DType::f32, {2}, bytes_of(numbers.data(), 2)}});
  ParamStore store;
  const Linear a(store.root() / "a", 1, 2, {.bias = false});
  load_weights(path, store, NameMap::load(map));
  check_equal(a.weight.value(), array({2, 1}, {1, 2}));
  write_safetensors(path, {{"fc.weight", DType::f32, {2, 1}, bytes_of(numbers.data(), 2)},
                           {"a.weight", DType::f32, {2, 1}, bytes_of(numbers.data(), 2)}});
  check_throws<FileError>([&] { load_weights(path, store, NameMap::load(map)); },
                          "two tensors get the name 'a.weight'");
}

TEST_CASE("a tensor of eight-bit floats is no obstacle if it is left out") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::vector<float> numbers = {1, 2};
  write_safetensors(path, {{"a.weight", DType::f32, {2, 1}, bytes_of(numbers.data(), 2)},
                           {"scale", DType::f8_e4m3, {3}, "abc"},
                           {"extra", DType::f8_e5m2, {1}, "a"}});
  ParamStore store;
  const Linear a(store.root() / "a", 1, 2, {.bias = false});
  check_throws<MismatchError>([&] { load_weights(path, store); }, "unexpected scale, extra");
  load_weights(path, store, NameMap::load(work.write("map.json", R"({"scale": null, "extra": null})")));
  check_equal(a.weight.value(), array({2, 1}, {1, 2}));
  check_throws<FileError>([&] { to_array(*SafetensorsFile(path).find("scale")); },
                          "[tensor scale] elements of type F8_E4M3 are not converted");
}

TEST_CASE("weights are written through a symbolic link, which stays") {
  const TemporaryDirectory work;
  ParamStore store;
  const Linear a(store.root() / "a", 1, 2);
  std::filesystem::create_directory(work.path() + "/models");
  std::filesystem::create_symlink("models/v1", work.path() + "/current");
  save_weights(work.path() + "/current", store);
  CHECK(std::filesystem::is_symlink(work.path() + "/current"));
  CHECK(std::filesystem::is_regular_file(work.path() + "/models/v1"));
  load_weights(work.path() + "/current", store);
}
