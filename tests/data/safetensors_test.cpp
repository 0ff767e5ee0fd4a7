#include <xtape/data/safetensors.hpp>

#include "child_process.hpp"
#include "inspect/log/file_size_limit.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// A file of a header and data, with the header's length as announced or as it is.
std::string safetensors_of(const std::string& header, const std::string& data, std::uint64_t announced = 0) {
  if (announced == 0) announced = header.size();
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(announced >> (8 * i));
  return out + header + data;
}

const std::string kPlain = R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})";
const std::string kZeros(16, '\0');

/// One tensor of four-byte numbers with other texts for its shape and place.
std::string described(const std::string& shape, const std::string& offsets, const std::string& type = "F32") {
  return R"({"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

}  // namespace

TEST_CASE("sound safetensors files are read") {  // after the format's own test files
  const TemporaryDirectory work;
  const auto write = [&](const std::string& content) { return work.write("file", content); };
  CHECK(SafetensorsFile(write(safetensors_of("{}      ", ""))).tensors().empty());
  CHECK(SafetensorsFile(write(safetensors_of("{}\r \t\n", ""))).tensors().empty());
  const SafetensorsFile metadata(write(safetensors_of(R"({"__metadata__":{"framework":"pt"}}     )", "")));
  CHECK(metadata.metadata() == Metadata{{"framework", "pt"}});
  CHECK(!metadata.has_checksum());

  const SafetensorsFile scalar(write(safetensors_of(described("[]", "[0,4]", "I32"), "\x07" + std::string(3, '\0'))));
  CHECK(scalar.tensors()[0].shape.rank() == 0);
  CHECK(to_indices(*scalar.find("w"))() == 7);
  CHECK(scalar.find("v") == nullptr);

  const SafetensorsFile empty(write(safetensors_of(described("[2,0]", "[0,0]"), "")));
  CHECK(to_array(empty.tensors()[0]).shape() == Shape{2, 0});
  CHECK(to_indices(SafetensorsFile(write(safetensors_of(kPlain, kZeros))).tensors()[0]) ==
        indices({2, 2}, {0, 0, 0, 0}));

  const std::vector<float> numbers = {0, 1, 2, 3, 4, 5};
  const std::string data(bytes_of(numbers.data(), 6));
  check_equal(
      to_array(SafetensorsFile(write(safetensors_of(described("[1,1,2,3]", "[0,24]") + "      ", data))).tensors()[0]),
      array({1, 1, 2, 3}, {0, 1, 2, 3, 4, 5}));

  const SafetensorsFile two(write(safetensors_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},)"
                                                 R"("b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
                                                 data)));
  REQUIRE(two.tensors().size() == 2);
  CHECK(two.tensors()[0].name == "b");  // in the order of the data
  check_equal(to_array(*two.find("a")), row({4, 5}));
}

TEST_CASE("hostile safetensors files are refused with what is wrong in them") {
  const TemporaryDirectory work;
  std::string attack = "{";  // ten tensors on the same bytes
  for (int i = 0; i < 10; ++i)
    attack += (i ? ",\"weight_" : "\"weight_") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "expected a header of at least 8 bytes, got 0"},
      {"\x01\x02\x03\x04", "expected a header of at least 8 bytes, got 4"},
      {safetensors_of("", "", 60), "expected a header within the file of 8 bytes, got 60"},
      {safetensors_of(kPlain, kZeros, ~std::uint64_t{0}), " bytes, got 18446744073709551615"},
      {safetensors_of(kPlain, kZeros, 1000), "expected a header within the file of 84 bytes, got 1000"},
      {safetensors_of("{", ""), "the header is not JSON"},
      {safetensors_of("\xFF", ""), "the header is not JSON in UTF-8"},
      {safetensors_of("[1]", ""), "the header is not a JSON object"},
      {safetensors_of(R"({"a":)" + std::string(100'000, '['), ""), "the header is nested too deeply"},
      {safetensors_of(R"({"w":3})", ""), "'w' is not described by a JSON object"},
      {safetensors_of(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", "0000"), "'w' has no dtype"},
      {safetensors_of(described("[1]", "[0,4]", "F99"), "0000"), "'w' has the dtype F99, which is not known here"},
      {safetensors_of(described("4", "[0,4]"), "0000"), "shape of 'w' is not a list of whole numbers"},
      {safetensors_of(described("[-1]", "[0,4]"), "0000"), "shape of 'w' is not a list of whole numbers"},
      {safetensors_of(described("[1.0]", "[0,4]"), "0000"), "shape of 'w' is not a list of whole numbers"},
      {safetensors_of(described("[1]", "[0]"), "0000"),
       "expected data_offsets of 'w' as a range within the 4 bytes of data, got (0)"},
      {safetensors_of(described("[1]", "[8,4]"), "00000000"), "bytes of data, got (8,4)"},
      {safetensors_of(described("[1]", "[4,8]"), "0000"), "within the 4 bytes of data, got (4,8)"},
      {safetensors_of(described("[1000,1000]", "[0,4]"), "0000"),
       "expected the bytes of shape (1000,1000) and type F32 in the data_offsets of 'w', got 4"},
      {safetensors_of(described("[2,2]", "[0,4]", "I32"), "0000"), "in the data_offsets of 'w', got 4"},
      {safetensors_of(described("[2,9223372036854775807]", "[0,16]", "I32"), kZeros),
       "in the data_offsets of 'w', got 16"},
      {safetensors_of(described("[2,18446744073709551614]", "[0,16]", "I32"), kZeros),
       "in the data_offsets of 'w', got 16"},
      {safetensors_of(described("[2,18446744073709551616]", "[0,16]", "I32"), kZeros), "not a list of whole numbers"},
      {safetensors_of(kPlain, kZeros.substr(2)), "expected data_offsets of 'test' as a range within the 14 bytes"},
      {safetensors_of(kPlain, kZeros + "extra_bogus_data_for_polyglot_file"),
       "34 bytes at the end belong to no tensor"},
      {safetensors_of(described("[1]", "[4,8]"), kZeros.substr(8)), "'w' begins after bytes that belong to no tensor"},
      {safetensors_of(attack + "}", kZeros), "shares bytes with another tensor"},
      {safetensors_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                      "0000"),
       "the header has the key 'w' twice"},
      {safetensors_of(R"({"__metadata__":3})", ""), "the metadata is not a JSON object"},
      {safetensors_of(R"({"__metadata__":{"epoch":3}})", ""), "the metadata 'epoch' is not a text"},
  };
  for (const auto& [content, message] : table) {
    const std::string path = work.write("file", content);
    check_throws<FileError>([&] { SafetensorsFile file(path); }, "[safetensors] " + path + ": ");
    check_throws<FileError>([&] { SafetensorsFile file(path); }, message);
  }
}

TEST_CASE("what is written is read back, and damage anywhere is noticed") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::vector<float> floats = {1, -2.5F, 0.1F};
  const std::vector<double> doubles = {0.1};
  write_safetensors(path,
                    {{"u", DType::boolean, {1}, std::string_view("\1", 1)},
                     {"q\"\xC3\xA9", DType::f32, {1, 3}, bytes_of(floats.data(), 3)},
                     {"none", DType::f32, {0, 5}, ""},
                     {"d", DType::f64, {}, bytes_of(doubles.data(), 1)}},
                    {{"key", "text"}});
  const auto check = [&] {
    const SafetensorsFile file(path);
    CHECK(file.has_checksum());
    CHECK(file.metadata().at("key") == "text");
    REQUIRE(file.tensors().size() == 4);
    CHECK(file.tensors()[0].name == "d");  // larger elements first, so that all are aligned
    check_equal(to_array(*file.find("q\"\xC3\xA9")), array({1, 3}, {1, -2.5, kDouble ? double(0.1F) : 0.1}));
    double d = 0;
    read_values(*file.find("d"), &d);
    CHECK(d == 0.1);
    CHECK(to_array(*file.find("u"))(0) == 1);
    CHECK(file.find("none")->size() == 0);
  };
  check();
  const std::string content = content_of(path);
  CHECK(content[8] == '{');
  CHECK(static_cast<unsigned char>(content[0]) % 8 == 0);
  int noticed = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    work.write("file", damaged);
    try {
      const SafetensorsFile file(path);
      CHECK_MESSAGE(!file.has_checksum(), "byte ", i);  // only its key itself can be damaged
    } catch (const FileError&) {
      ++noticed;
    }
    work.write("file", content.substr(0, i));
    CHECK_THROWS_AS(SafetensorsFile{path}, FileError);
  }
  CHECK(noticed >= static_cast<int>(content.size()) - 15);
  work.write("file", content);
  check();
}

TEST_CASE("what cannot be written is refused and leaves the file as it was") {
  const TemporaryDirectory work;
  const std::string path = work.write("file", "before");
  const StoredTensor one = {"w", DType::u8, {1}, "x"};
  check_throws<FileError>([&] { write_safetensors(path, {one, one}); }, "a tensor cannot have the name 'w'");
  check_throws<FileError>([&] { write_safetensors(path, {{"__metadata__", DType::u8, {1}, "x"}}); }, "it is taken");
  check_throws<FileError>([&] { write_safetensors(path, {{"\xFF", DType::u8, {1}, "x"}}); }, "is not UTF-8");
  check_throws<FileError>([&] { write_safetensors(path, {one}, {{"key", "\xFF"}}); }, "is not UTF-8");
  check_throws<FileError>([&] { write_safetensors(work.path() + "/none/file", {one}); }, "No such file or directory");
  {
    const FileSizeLimit limit(20);
    check_throws<FileError>([&] { write_safetensors(path, {one}); }, "File too large");
  }
  CHECK(content_of(path) == "before");
  CHECK(std::distance(std::filesystem::directory_iterator(work.path()), {}) == 1);
}
