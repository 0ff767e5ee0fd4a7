// TensorBoard event files: checksums and bytes that are known, and a reader in Python that shares nothing with the
// writer.
#include <xtape/inspect/log/tensorboard.hpp>

#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <bit>
#include <nlohmann/json.hpp>
#include <set>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

std::string bytes(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

/// What the Python reader makes of a file.
json read_back(const std::string& path) {
  const Finished result = run(XTAPE_PYTHON, {XTAPE_SOURCE_DIR "/tests/inspect/log/read_events.py", path});
  INFO(result.err);
  REQUIRE(result.code == 0);
  return json::parse(result.out);
}

}  // namespace

TEST_CASE("CRC-32C gives the values of RFC 3720, appendix B.4") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i), falling += static_cast<char>(31 - i);
  CHECK(crc32c(rising) == 0x46dd794e);
  CHECK(crc32c(falling) == 0x113fdb5c);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c("6789", crc32c("12345")) == 0xe3069283);
  CHECK(crc32c("") == 0);
}

TEST_CASE("a file starts with the very bytes that other writers' files start with") {
  // Headers of two real files, of 1687811641 and of another program's clock.
  const auto header = [](const std::string& time) {
    return tensorboard_header(std::bit_cast<double>(*reinterpret_cast<const std::uint64_t*>(bytes(time).data())));
  };
  CHECK(header("0000408e7d26d941") ==
        bytes("1800000000000000a37f4b22090000408e7d26d9411a0d627261696e2e4576656e743a32bb1fb79d"));
  CHECK(header("93e49a1dc0f4d841") ==
        bytes("1800000000000000a37f4b220993e49a1dc0f4d8411a0d627261696e2e4576656e743a325eacfb76"));
  // A whole record of the second: the scalar Loss/train at step 500.
  const std::string event = bytes("0945b60122c0f4d84110f4032a130a110a0a4c6f73732f747261696e15b41a4b3f");
  CHECK(tensorboard_record(event) == bytes("2100000000000000017becf6") + event + bytes("4fb9013a"));
}

TEST_CASE("scalars and histograms come back, under 200 tags even of a large model") {
  const TemporaryDirectory work;
  StepRecord r = MadeRun{.steps = 1}.records().front();
  r.step = 300;
  r.validation_loss = 2.5;
  r.clip_factor = 0.5;
  r.parameters.clear();
  r.layers.clear();
  for (int i = 0; i < 300; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    ParameterStats p{.name = layer + ".weight", .grad_norm = 3};
    p.weight_norm = 10;
    p.update_norm = 0.1;
    p.grad_histogram = {-5, {1, 2, 4}};
    r.parameters.push_back(p);
    r.layers.push_back({layer, 0, 1, 0.5});
  }
  const std::string path = work.write("events", tensorboard_header(12.5) + tensorboard_step(r, 13.5));
  const json events = read_back(path);
  REQUIRE(events.size() == 2);
  CHECK(events[0] ==
        json{{"wall_time", 12.5}, {"step", 0}, {"file_version", "brain.Event:2"}, {"values", json::object()}});
  CHECK(events[1]["step"] == 300);
  CHECK(events[1]["wall_time"] == 13.5);
  const json& values = events[1]["values"];
  CHECK(values.size() < 200);
  CHECK(values["loss/train"] == static_cast<double>(static_cast<float>(r.loss)));
  CHECK(values["loss/validation"] == 2.5);
  CHECK(values["clip/factor"] == 0.5);
  CHECK(values["lr"] == static_cast<double>(static_cast<float>(r.lr)));
  CHECK(values["grad_norm_preclip/layers"] == static_cast<double>(static_cast<float>(std::sqrt(9.0 * 300))));
  const json& histogram = values["grad_log2_preclip/layers"];
  CHECK(histogram["num"] == 2100);
  CHECK(histogram["bucket_limit"] == json{-5, -4, -3, -2});
  CHECK(histogram["bucket"] == json{0, 300, 600, 1200});
  CHECK(histogram["min"] == -5);
  CHECK(histogram["max"] == -2);
  CHECK(histogram["sum"] == 300 * (-4.5 - 2 * 3.5 - 4 * 2.5));
  CHECK(values["output_grad_norm/layers.0"] == 0.5);
  CHECK(values.contains("output_grad_norm/layers.299"));
}

TEST_CASE("the records before a step are counted, those cut short or damaged not") {
  const std::string header = tensorboard_header(1);
  std::string content = header;
  std::vector<std::size_t> ends;
  for (const index_t step : {0, 7, 300}) {
    StepRecord record;
    record.step = step;
    content += tensorboard_step(record, 2);
    ends.push_back(content.size());
  }
  CHECK(tensorboard_size_before(0, content) == header.size());
  CHECK(tensorboard_size_before(7, content) == ends[0]);
  CHECK(tensorboard_size_before(8, content) == ends[1]);
  CHECK(tensorboard_size_before(300, content) == ends[1]);
  CHECK(tensorboard_size_before(301, content) == ends[2]);
  CHECK(tensorboard_size_before(301, content.substr(0, content.size() - 1)) == ends[1]);
  std::string damaged = content;
  damaged[ends[0] + 20] = static_cast<char>(damaged[ends[0] + 20] ^ 1);
  CHECK(tensorboard_size_before(301, damaged) == ends[0]);
  damaged = content.substr(0, ends[0]) + std::string(16, '\xff');
  CHECK(tensorboard_size_before(301, damaged) == ends[0]);
  CHECK(tensorboard_size_before(301, "") == 0);
}
