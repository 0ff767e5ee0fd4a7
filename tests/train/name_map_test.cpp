#include <xtape/train/mismatches.hpp>
#include <xtape/train/name_map.hpp>

#include "data/temporary_files.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("names are mapped by whole parts, the first rule that matches counts") {
  const TemporaryDirectory work;
  const NameMap map = NameMap::load(work.write("map.json", R"({
    "transformer.h.*.attn.bias": null,
    "transformer.h.*.attn.c_attn.weight": "layers.*.self_attn.in_proj_weight",
    "transformer.h.*.ln_1": "layers.*.norm1",
    "a.*.b.*": "*.*.c",
    "lm_head": "head"})"));
  CHECK(map("transformer.h.11.attn.c_attn.weight") == "layers.11.self_attn.in_proj_weight");
  CHECK(map("transformer.h.0.ln_1.weight") == "layers.0.norm1.weight");
  CHECK(map("transformer.h.0.ln_1") == "layers.0.norm1");
  CHECK(!map("transformer.h.0.attn.bias"));
  CHECK(map("transformer.h.0.attn.bias_k") == "transformer.h.0.attn.bias_k");
  CHECK(map("a.x.b.y.z") == "x.y.c.z");
  CHECK(map("lm_head.weight") == "head.weight");
  CHECK(map("lm_headless.weight") == "lm_headless.weight");
  CHECK(map("my.lm_head") == "my.lm_head");
  CHECK(NameMap()("any.name") == "any.name");
}

TEST_CASE("what is no name map is refused") {
  const TemporaryDirectory work;
  const auto load = [&](const std::string& text) { NameMap::load(work.write("map.json", text)); };
  check_throws<FileError>([&] { load("{"); }, "map.json: this is not a JSON object of names");
  check_throws<FileError>([&] { load("[]"); }, "this is not a JSON object of names");
  check_throws<FileError>([&] { load(R"({"a": 3})"); }, "'a' maps to neither a name nor null");
  check_throws<FileError>([&] { load(R"({"a.*": "*.*"})"); }, "'a.*' has fewer * than '*.*'");
  check_throws<FileError>([] { NameMap::load("/nowhere"); }, "/nowhere");
}

TEST_CASE("mismatches are told at once in one line") {
  Mismatches mismatches;
  CHECK(mismatches.none());
  mismatches.raise("op", "file");
  mismatches.shape("d", {2, 3}, {3, 2});
  mismatches.unexpected("c");
  mismatches.missing("a");
  mismatches.missing("b");
  mismatches.other("more");
  check_throws<MismatchError>([&] { mismatches.raise("op", "file"); },
                              "[op] file does not fit: missing a, b; unexpected c; shape of d: expected (3,2), got "
                              "(2,3); more");
}
